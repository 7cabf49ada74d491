public import JacquardProtocol

/// A tag of this bridge.
public struct TagEntry: Hashable, Sendable {
    /// When the bridge connects a tag.
    public enum ConnectPolicy: String, Hashable, Sendable, CaseIterable {
        /// Always.
        case always
        /// While a command is pending.
        case onDemand = "on_demand"
        /// Never: commands are rejected as not permitted.
        case never
    }

    /// The tag's name in topics.
    public var id: TagID
    /// The serial printed on the tag, such as `003R`.
    public var serial: String
    /// The name to show instead of the tag's own; nil to show the tag's own.
    public var name: String?
    /// When to connect it.
    public var connect: ConnectPolicy

    /// Creates an entry.
    public init(id: TagID, serial: String, name: String? = nil, connect: ConnectPolicy = .always) {
        self.id = id
        self.serial = serial
        self.name = name
        self.connect = connect
    }
}
