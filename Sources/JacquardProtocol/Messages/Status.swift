/// How a tag answered a request. Any number may come: 15 is real and outside the schema.
///
/// Source: `Status` of the schema; 15 from JacquardSDKiOS, `JacquardCommandError`.
public struct Status: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Takes any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Carried out.
    public static let ok = Status(rawValue: 0)
    /// The tag does not know the domain or the opcode.
    public static let unsupported = Status(rawValue: 1)
    /// A parameter is out of range.
    public static let badParameter = Status(rawValue: 2)
    /// The state of the tag does not allow it.
    public static let invalidState = Status(rawValue: 7)
    /// The tag is busy.
    public static let busy = Status(rawValue: 10)

    /// The schema's name, such as `ERROR_BADPARAM`, or `STATUS_<number>` for one without a name.
    public var description: String { Self.names[rawValue] ?? "STATUS_\(rawValue)" }

    private static let names: [UInt32: String] = [
        0: "STATUS_OK", 1: "ERROR_UNSUPPORTED", 2: "ERROR_BADPARAM", 3: "ERROR_BATTERY", 4: "ERROR_HARDWARE",
        5: "ERROR_AUTH", 6: "ERROR_DEVICE_TYPE_INFO", 7: "ERROR_INVALID_STATE", 8: "ERROR_FLASH_ACCESS",
        9: "ERROR_CHECKSUM", 10: "ERROR_BUSY", 15: "ERROR_LOW_MEMORY", 253: "ERROR_APP_TIMEOUT",
        254: "ERROR_APP_UNKNOWN", 255: "ERROR_UNKNOWN",
    ]
}
