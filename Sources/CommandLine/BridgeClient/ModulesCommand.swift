import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import JacquardProtocol
import Terminal
import Text

/// `modules`: lists the modules of a tag, or changes one.
struct ModulesCommand: ClientCommand {
    /// The tag.
    let tag: TagOperand
    /// The change; nil: list them.
    var change: (action: ModuleAction, module: String)? {
        guard let action, let module else { return nil }
        return (action, module)
    }
    /// The change, and the name or number of the module.
    var action: ModuleAction?
    var module: String?
    /// How long to wait for a tag that is not connected.
    var lifetime: Duration?

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        var payload: [String: JSONValue] = [:]
        if let change {
            payload = ["action": .string(change.action.rawValue), "module": .string(change.module)]
            if change.action == .delete { payload["confirm"] = .string(change.module) }
        }
        let order = TagOrder(
            tags: tag, command: "modules", verb: change == nil ? "get" : "set", payload: payload, lifetime: lifetime)
        try await context.perform(order, sentence: Self.sentence)
    }

    /// The sentence for a successful result.
    static func sentence(_ id: String, _ result: JSONValue) -> String {
        let modules = (result["data"]?["modules"]?.elements ?? []).map { module in
            let words = [module["name"]?.word, module["firmware"]?.word, module["module_id"]?.word].compactMap(\.self)
            return words.joined(separator: " ") + (module["enabled"]?.flag == true ? " (active)" : "")
        }
        return "\(id): \(modules.isEmpty ? "no modules" : modules.joined(separator: ", "))"
    }

    static let row = Command<any CommandAction>(
        name: "modules",
        summary: "list or change the modules of a tag",
        details: [
            "A module is a program that the tag can load, such as IMUModule, which",
            "collects motion data. A deleted module cannot be restored.",
        ],
        options: [.config, .json, .wait],
        operands: [.required("ID", .tag), .optional("ACTION", .words(actions)), .optional("MODULE")],
        values: RowText.id + [
            "ACTION is activate, deactivate or delete. MODULE is the name of a module;",
            "for delete its module_id.",
        ],
        json: RowText.resultJSON,
        examples: ["modules 003R", "modules 003R activate IMUModule"]
    ) { arguments throws(CommandLineError) in
        let action = try arguments.optionalOperand(1, "ACTION", ScalarRule<ModuleAction>.choice)
        let module = try arguments.optionalOperand(2, "MODULE", .text(bytes: 64))
        guard (action == nil) == (module == nil) else { throw CommandLineError(message: "MODULE is missing") }
        // A deleted module can't be restored, and its name alone is typed too easily.
        if action == .delete, let module, JacquardIdentifier(module) == nil {
            throw CommandLineError(
                message: "MODULE: \(DisplayText.quoted(module)) is not the module_id, which delete requires; allowed: "
                    + "four bytes such as 3d-0b-e7-53, which modules ID lists")
        }
        return try ClientAction(
            ModulesCommand(
                tag: TagOperand(tag: try arguments.operand(0, "ID", .topicLevel)), action: action, module: module,
                lifetime: try arguments.lifetime()), arguments)
    }

    private static let actions = ModuleAction.allCases.map(\.rawValue)
}
