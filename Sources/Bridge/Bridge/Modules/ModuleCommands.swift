import JSON
import JacquardProtocol
import Time

/// `modules/get`: lists the tag's loadable modules, in the result and on `T/modules`.
struct ModulesGet: TagRequest {
    static let name = "modules/get"

    let command: TagCommand? = .listModules

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func succeeded(_ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp) -> TagRequestOutcome {
        tag.modulesReported(response, at: now)
    }
}

/// `modules/set`: activates, deactivates or deletes a module. The result has the list after the change.
struct ModulesSet: TagRequest {
    static let name = "modules/set"
    static var access: CommandAccess { .admin }
    static let keys = ["module", "action", "confirm"]

    private let action: ModuleAction
    private let module: String
    private let idle: Duration

    var command: TagCommand? { .changeModule(action, named: module) }

    private static let actions = ModuleAction.allCases.map { Word($0.rawValue, $0) }

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        idle = context.options.motion.idle
        let arguments = try CommandArguments(objectOnly: payload)
        let allowed = "the name of a module such as IMUModule, or its module_id"
        let module = try arguments.text("module", mayBe: allowed) { (1...64).contains($0.utf8.count) ? $0 : nil }
        self.module = try CommandArguments.required(module, "module", mayBe: allowed)
        action = try CommandArguments.required(
            arguments.word("action", of: Self.actions), "action", mayBe: Self.actions.listed())
        guard action == .delete else { return }
        // The name alone is typed too easily: a deleted module can't be restored.
        let number = try arguments.text("confirm", mayBe: "the module_id of the module, such as 3d-0b-e7-53") {
            JacquardIdentifier($0)
        }
        _ = try CommandArguments.required(
            number, "confirm", mayBe: "the module_id of the module: it can't be restored without its image")
        guard let number, number.description == self.module else {
            throw CommandFailure(
                .invalidArgument,
                "\"module\" is \(self.module.quoted); to delete it, module and confirm are its module_id",
                hint: "modules/get lists the module_id of each module")
        }
    }

    func succeeded(_ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp) -> TagRequestOutcome {
        tag.modulesReported(response, idle: action == .activate ? idle : nil, at: now)
    }
}

extension TagMirror {
    /// Handles a list of modules.
    ///
    /// - Parameters:
    ///   - response: the list.
    ///   - idle: after which time an unused motion module is deactivated; nil if none was activated.
    ///   - now: the current time.
    /// - Returns: the result and the facts that follow.
    fileprivate mutating func modulesReported(
        _ response: TagCommandResponse, idle: Duration? = nil, at now: Timestamp
    ) -> TagRequestOutcome {
        guard case .modules(let modules) = response else { return TagRequestOutcome() }
        rare.modules = modules
        let isActive = modules.first { $0.isSameModule(as: .motion) }.map { $0.isEnabled == true }
        if isActive == true {
            if idle != nil || hasMotion { motion.foundActive() }
            if let idle { motion.used(idle: idle, at: now.instant) }
        } else if rareFacts.first?.motion != nil {
            motion.ended(as: isActive == nil ? .missing : .inactive)
        }
        return TagRequestOutcome(
            data: CommandData(ModulesDocument(modules)), publications: modulesFact + motionPublications)
    }

    /// `T/modules`; nothing until the modules were listed.
    var modulesFact: [Publication] {
        rareFacts.first?.modules.map { [.fact(topics[.modules], ModulesDocument($0).modules)] } ?? []
    }
}

extension TopicRow {
    static let modules = TopicRow("modules", .fact, isOnPage: false) { document in
        let modules = (document.elements ?? []).map { module in
            (module["name"]?.word ?? "a module") + (module["enabled"]?.flag == true ? ", active" : "")
        }
        return modules.isEmpty ? "has no modules" : "has the modules \(modules.joined(separator: "; "))"
    }
}
