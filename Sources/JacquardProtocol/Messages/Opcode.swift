/// What a request asks for or a notification tells. Any number may come, and one number means something else in
/// each domain.
///
/// Source: `Opcode` of the schema.
public struct Opcode: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Takes any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// Opcodes of the domain ``Domain/base``.
extension Opcode {
    /// Asks for the protocol versions that the tag speaks.
    public static let hello = Opcode(rawValue: 1)
    /// Chooses the protocol version.
    public static let begin = Opcode(rawValue: 2)
    /// Tells that the tag is about to drop the link.
    public static let disconnect = Opcode(rawValue: 3)
    /// Asks what the tag is.
    public static let deviceInfo = Opcode(rawValue: 4)
    /// Tells that gear was attached or detached.
    public static let attached = Opcode(rawValue: 9)
    /// Reads the configuration.
    public static let configRead = Opcode(rawValue: 10)
    /// Changes the configuration.
    public static let configWrite = Opcode(rawValue: 11)
    /// Tells of an error.
    public static let error = Opcode(rawValue: 16)
    /// Plays on the tag's LED, or tells of a pattern.
    public static let ledPattern = Opcode(rawValue: 17)
    /// Reads the battery, or tells it.
    public static let batteryStatus = Opcode(rawValue: 23)
    /// Reads an element of the store of keys and values.
    public static let configGet = Opcode(rawValue: 24)
    /// Writes an element of the store of keys and values.
    public static let configSet = Opcode(rawValue: 25)
    /// Asks the tag to drop the link.
    public static let requestDisconnect = Opcode(rawValue: 27)
}

/// Opcodes of the domain ``Domain/gear``.
extension Opcode {
    /// Asks what the gear is.
    public static let gearInfo = Opcode(rawValue: 4)
    /// Plays on the gear's LED.
    public static let gearLED = Opcode(rawValue: 5)
    /// Plays on the gear's motor.
    public static let gearHaptic = Opcode(rawValue: 6)
    /// Switches between gestures and touch, or carries them.
    public static let gearData = Opcode(rawValue: 7)
}
