import ProtobufWire

/// A program that the tag can load, such as the one that collects motion data.
///
/// Source: `ModuleDescriptor` of the schema; protocol article, "Firmware and modules".
public struct ModuleDescriptor: Equatable, Sendable, WireMessage {
    /// The name, such as `IMUModule`.
    public var name: String?
    /// The vendor.
    public var vendorID: JacquardIdentifier?
    /// The product that the module belongs to.
    public var productID: JacquardIdentifier?
    /// The module's own number.
    public var moduleID: JacquardIdentifier?
    /// The version: three fields, of which an absent one counts as 0; nil if all are absent.
    public var version: FirmwareVersion?
    /// Whether the tag runs the module.
    public var isEnabled: Bool?
    /// Purpose unknown; no SDK reads it.
    public var apiLevel: UInt32?
    /// Purpose unknown; no SDK reads it.
    public var machineLearningVersion: String?
    /// The size in bytes.
    public var byteCount: UInt32?

    /// Creates a descriptor without values.
    public init() {}

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &name)
        try fields.optional(2, &vendorID)
        try fields.optional(3, &productID)
        try fields.optional(4, &moduleID)
        try fields.version(5, 6, 7, &version)
        try fields.optional(8, &isEnabled)
        try fields.optional(9, &apiLevel)
        try fields.optional(10, &machineLearningVersion)
        try fields.optional(11, &byteCount)
    }
}

/// The loadable modules of a tag.
///
/// Source: `ListModuleResponse`, extension 1202 of `Response`.
public struct ListModuleResponse: Equatable, Sendable, WireMessage {
    /// The modules.
    public var modules: [ModuleDescriptor] = []

    /// Creates an empty response.
    public init() {}

    /// Creates a response with modules.
    public init(modules: [ModuleDescriptor]) {
        self.modules = modules
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.repeated(1, &modules)
    }
}

/// Loads, unloads or deletes a module: three requests with the same body.
///
/// Source: `LoadModuleRequest`, `UnloadModuleRequest` and `DeleteModuleRequest`, extensions 1200, 1201 and 1203 of
/// `Request`.
public struct ModuleRequest: Equatable, Sendable, WireMessage {
    /// The module. Only name, vendor, product and number are sent.
    public var module: ModuleDescriptor?

    /// Creates an empty request.
    public init() {}

    /// Creates a request for a module.
    public init(_ module: ModuleDescriptor) {
        var sent = ModuleDescriptor()
        sent.name = module.name
        sent.vendorID = module.vendorID
        sent.productID = module.productID
        sent.moduleID = module.moduleID
        self.module = sent
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &module)
    }
}

/// The outcome of loading a module, which follows the response to the request.
///
/// Source: `LoadModuleNotification`, extension 1200 of `Notification`.
public struct LoadModuleNotification: Equatable, Sendable, WireMessage {
    /// ``Status/ok`` if the module runs.
    public var status: Status?
    /// The module.
    public var module: ModuleDescriptor?

    /// Creates a notification without values.
    public init() {}

    /// Creates a notification.
    public init(status: Status, module: ModuleDescriptor) {
        self.status = status
        self.module = module
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &status)
        try fields.optional(2, &module)
    }
}

extension ModuleDescriptor {
    /// The module that collects motion data. Source: JacquardSDKiOS, `IMUModule`.
    public static let motion: ModuleDescriptor = {
        var module = ModuleDescriptor()
        module.name = "IMUModule"
        module.vendorID = .google
        module.productID = JacquardIdentifier(rawValue: 0xEF3E_5B88)
        module.moduleID = JacquardIdentifier(rawValue: 0x3D0B_E753)
        return module
    }()

    /// Whether both descriptors name one module. A descriptor without numbers is compared by its name.
    public func isSameModule(as other: ModuleDescriptor) -> Bool {
        guard let moduleID, other.moduleID != nil else { return name == other.name }
        return moduleID == other.moduleID && vendorID == other.vendorID && productID == other.productID
    }
}

/// The requests about modules.
extension Request {
    /// Loads a module. Response: a status; the outcome follows as ``LoadModuleNotification``.
    public static func loadModule(_ module: ModuleDescriptor) -> Request {
        Request(domain: .base, opcode: .loadModule, body: .loadModule(ModuleRequest(module)))
    }

    /// Unloads a module. Response: a status.
    public static func unloadModule(_ module: ModuleDescriptor) -> Request {
        Request(domain: .base, opcode: .unloadModule, body: .unloadModule(ModuleRequest(module)))
    }

    /// Deletes a module. It can't be restored without its image. Response: a status.
    public static func deleteModule(_ module: ModuleDescriptor) -> Request {
        Request(domain: .base, opcode: .deleteModule, body: .deleteModule(ModuleRequest(module)))
    }
}
