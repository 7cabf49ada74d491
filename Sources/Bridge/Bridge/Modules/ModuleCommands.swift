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

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        TagRequestOutcome(response, aboutModulesOf: &tag, at: now, &effects)
    }
}

/// `modules/set`: activates, deactivates or deletes a module. The result has the list after the change.
struct ModulesSet: TagRequest {
    static let name = "modules/set"
    static var needsPayload: Bool { true }
    static var access: CommandAccess { .admin }
    static let keys = ["module", "action", "confirm"]

    private let action: ModuleAction
    private let module: String

    var command: TagCommand? { .changeModule(action, named: module) }

    private static let actions = ModuleAction.allCases.map { Word($0.rawValue, $0) }

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
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

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        TagRequestOutcome(response, aboutModulesOf: &tag, hasActivated: action == .activate, at: now, &effects)
    }

    func failed(on tag: inout TagMirror, _ failure: CommandFailure?, at now: Timestamp) {
        if failure?.leavesEffectUnknown == true { tag.unconfirmed.modulesUnknown(at: now.instant) }
    }
}

extension TagRequestOutcome {
    /// Applies a list of modules to its tag.
    ///
    /// - Parameters:
    ///   - response: the list.
    ///   - tag: the tag.
    ///   - hasActivated: whether a module was activated before.
    ///   - now: the current time.
    ///   - effects: gets the publications.
    init(
        _ response: TagCommandResponse, aboutModulesOf tag: inout TagMirror, hasActivated: Bool = false,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        guard case .modules(let modules) = response else {
            self.init()
            return
        }
        tag.rare.modules = modules
        tag.rare.unconfirmed.modulesConfirmed()
        effects.publish(tag.modulesFact)
        tag.tell(.modules(modules, hasActivated: hasActivated), at: now, &effects)
        self.init(data: CommandData(["modules": modules.map { ModuleDocument(module: $0) }]))
    }
}

/// A loadable module in `T/modules`, and in the results of commands about modules.
struct ModuleDocument: JSONRecord {
    let module: ModuleDescriptor

    func addMembers(to object: inout JSONWriter) {
        object.add("enabled", module.isEnabled)
        object.add("firmware", module.version?.description)
        object.add("module_id", module.moduleID?.description)
        object.add("name", module.name)
        object.add("product_id", module.productID?.description)
        object.add("vendor_id", module.vendorID?.description)
    }
}

extension ModuleDocument {
    static let topic = TopicRow("modules", .fact, isOnPage: false) { document in
        let modules = (document.elements ?? []).map { module in
            (module["name"]?.word ?? "a module") + (module["enabled"]?.flag == true ? ", active" : "")
        }
        return modules.isEmpty ? "has no modules" : "has the modules \(modules.joined(separator: "; "))"
    }
}

extension TagMirror {
    /// `T/modules`; nothing until the modules were listed.
    var modulesFact: [Publication] {
        guard let modules = rareFacts.first?.modules else { return [] }
        return [.fact(topics[ModuleDocument.topic], modules.map { ModuleDocument(module: $0) })]
    }

    /// Handles a module that was activated or deactivated by itself.
    mutating func moduleChanged(_ module: ModuleDescriptor, isEnabled: Bool) {
        guard let place = rareFacts.first?.modules?.firstIndex(where: { $0.isSameModule(as: module) }) else { return }
        rare.modules?[place].isEnabled = isEnabled
    }
}
