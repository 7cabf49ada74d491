public import EventLoop
public import JacquardProtocol

/// A program that the tag can load. Source: JacquardSDKAndroid, `LoadableModule`.
@LoopActor
public protocol LoadableModule: AnyObject {
    /// The tag.
    var connectedTag: ConnectedTag { get }
    /// The module.
    var module: ModuleDescriptor { get }
}

extension LoadableModule {
    /// Loads the module, unless the tag runs it already.
    ///
    /// The SDKs would also fetch a missing module: its server no longer exists.
    ///
    /// - Throws: `moduleMissing` if the tag does not have the module, `moduleNotLoaded` if it cannot run it.
    public func initialize() async throws(TagCommandError) { try await activateModule() }

    /// Loads the module, unless the tag runs it already.
    public func activateModule() async throws(TagCommandError) { try await change(.activate) }

    /// Unloads the module, unless the tag does not run it.
    public func deactivateModule() async throws(TagCommandError) { try await change(.deactivate) }

    /// Whether the tag runs the module; nil if it does not have it.
    public func isActive() async throws(TagCommandError) -> Bool? {
        guard case .modules(let modules) = try await connectedTag.enqueue(.listModules) else { return nil }
        return modules.first { $0.isSameModule(as: module) }.map { $0.isEnabled ?? false }
    }

    private func change(_ action: ModuleAction) async throws(TagCommandError) {
        try await connectedTag.enqueue(.changeModule(action, named: module.name ?? ""))
    }
}
