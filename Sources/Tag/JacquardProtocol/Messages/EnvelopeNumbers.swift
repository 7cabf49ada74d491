/// The part of a tag's firmware that a request or a notification belongs to. Any number may occur.
///
/// Source: `Domain` of the schema.
public struct Domain: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Accepts any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The tag itself and its loadable modules.
    public static let base = Domain(rawValue: 0)
    /// Attached gear.
    public static let gear = Domain(rawValue: 8)
    /// Motion data: `DATA_COLLECTION` in the schema.
    public static let motion = Domain(rawValue: 9)
}

/// The operation of a request or the kind of a notification. Any number may occur; its meaning depends on the domain.
///
/// Source: `Opcode` of the schema.
public struct Opcode: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Accepts any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// Opcodes of the domain ``Domain/base``.
extension Opcode {
    /// Reads the protocol versions that the tag supports.
    public static let hello = Opcode(rawValue: 1)
    /// Chooses the protocol version.
    public static let begin = Opcode(rawValue: 2)
    /// Announces that the tag drops the link.
    public static let disconnect = Opcode(rawValue: 3)
    /// Reads what the tag is.
    public static let deviceInfo = Opcode(rawValue: 4)
    /// Reports that gear was attached or detached.
    public static let attached = Opcode(rawValue: 9)
    /// Reads the configuration.
    public static let configRead = Opcode(rawValue: 10)
    /// Changes the configuration.
    public static let configWrite = Opcode(rawValue: 11)
    /// Reports an error.
    public static let error = Opcode(rawValue: 16)
    /// Plays on the tag's LED, or reports the state of a pattern.
    public static let ledPattern = Opcode(rawValue: 17)
    /// Loads a module, or reports the outcome.
    public static let loadModule = Opcode(rawValue: 18)
    /// Unloads a module.
    public static let unloadModule = Opcode(rawValue: 19)
    /// Lists the loadable modules.
    public static let listModules = Opcode(rawValue: 20)
    /// Deletes a module.
    public static let deleteModule = Opcode(rawValue: 21)
    /// Reads or reports the battery.
    public static let batteryStatus = Opcode(rawValue: 23)
    /// Reads an element of the key-value store.
    public static let configGet = Opcode(rawValue: 24)
    /// Writes an element of the key-value store.
    public static let configSet = Opcode(rawValue: 25)
    /// Makes the tag drop the link.
    public static let requestDisconnect = Opcode(rawValue: 27)
}

/// Opcodes of the domain ``Domain/gear``.
extension Opcode {
    /// Reads what the gear is.
    public static let gearInfo = Opcode(rawValue: 4)
    /// Plays on the gear's LED.
    public static let gearLED = Opcode(rawValue: 5)
    /// Plays on the gear's motor.
    public static let gearHaptic = Opcode(rawValue: 6)
    /// Switches between gestures and touch, or carries them.
    public static let gearData = Opcode(rawValue: 7)
}

/// Opcodes of the domain ``Domain/motion``.
extension Opcode {
    /// Starts collecting.
    public static let motionStart = Opcode(rawValue: 1)
    /// Stops collecting.
    public static let motionStop = Opcode(rawValue: 2)
    /// Reads the state.
    public static let motionStatus = Opcode(rawValue: 3)
    /// Lists the sessions, or carries one of them.
    public static let motionSessionList = Opcode(rawValue: 4)
    /// Starts the transfer of a session.
    public static let motionDownload = Opcode(rawValue: 5)
    /// Erases a session.
    public static let motionErase = Opcode(rawValue: 6)
    /// Erases all sessions.
    public static let motionEraseAll = Opcode(rawValue: 7)
}

/// The result of a request. Any number may occur: 15 is real although the schema lacks it.
///
/// Source: `Status` of the schema; 15 from JacquardSDKiOS, `JacquardCommandError`.
public struct Status: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Accepts any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The tag carried out the request.
    public static let ok = Status(rawValue: 0)
    /// The tag does not support the domain or the opcode.
    public static let unsupported = Status(rawValue: 1)
    /// A parameter is out of range.
    public static let badParameter = Status(rawValue: 2)
    /// The tag's state does not allow the operation.
    public static let invalidState = Status(rawValue: 7)
    /// The tag is busy.
    public static let busy = Status(rawValue: 10)

    /// The schema's name, such as `ERROR_BADPARAM`, or `STATUS_<number>` for a number without a name.
    public var description: String { Self.names[rawValue] ?? "STATUS_\(rawValue)" }

    private static let names: [UInt32: String] = [
        0: "STATUS_OK", 1: "ERROR_UNSUPPORTED", 2: "ERROR_BADPARAM", 3: "ERROR_BATTERY", 4: "ERROR_HARDWARE",
        5: "ERROR_AUTH", 6: "ERROR_DEVICE_TYPE_INFO", 7: "ERROR_INVALID_STATE", 8: "ERROR_FLASH_ACCESS",
        9: "ERROR_CHECKSUM", 10: "ERROR_BUSY", 15: "ERROR_LOW_MEMORY", 253: "ERROR_APP_TIMEOUT",
        254: "ERROR_APP_UNKNOWN", 255: "ERROR_UNKNOWN",
    ]
}

/// The field numbers of the bodies in the three envelopes: proto2 extensions, on the wire fields like any other.
///
/// The same number may stand for a different message in each envelope. Source: the extensions of the schema of
/// JacquardSDKiOS; protocol article, "Bodies".
enum ExtensionNumber {
    static let hello: UInt32 = 100
    static let begin: UInt32 = 101
    static let disconnectNotification: UInt32 = 102
    static let deviceInfo: UInt32 = 103
    static let attached: UInt32 = 109
    static let errorNotification: UInt32 = 117
    static let ledPattern: UInt32 = 118
    static let batteryStatus: UInt32 = 121
    static let configSet: UInt32 = 122
    static let configGet: UInt32 = 123
    static let bleDisconnect: UInt32 = 125
    static let haptic: UInt32 = 906
    static let dataChannel: UInt32 = 907
    static let dataChannelNotification: UInt32 = 917
    static let configRead: UInt32 = 1100
    static let configWrite: UInt32 = 1101
    static let motionStart: UInt32 = 1001
    static let motionStop: UInt32 = 1002
    static let motionStatus: UInt32 = 1003
    static let sessionList: UInt32 = 1004
    static let motionDownload: UInt32 = 1005
    static let motionErase: UInt32 = 1007
    static let motionEraseAll: UInt32 = 1008
    static let loadModule: UInt32 = 1200
    static let unloadModule: UInt32 = 1201
    static let listModules: UInt32 = 1202
    static let deleteModule: UInt32 = 1203
}
