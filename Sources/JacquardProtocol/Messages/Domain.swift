/// Which part of a tag's firmware a request or a notification belongs to. Any number may come.
///
/// Source: `Domain` of the schema.
public struct Domain: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Takes any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The tag itself; loadable modules too.
    public static let base = Domain(rawValue: 0)
    /// Firmware images.
    public static let dfu = Domain(rawValue: 1)
    /// Attached gear.
    public static let gear = Domain(rawValue: 8)
    /// Recording and streaming of motion.
    public static let dataCollection = Domain(rawValue: 9)
}
