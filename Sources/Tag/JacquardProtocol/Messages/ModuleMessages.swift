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
