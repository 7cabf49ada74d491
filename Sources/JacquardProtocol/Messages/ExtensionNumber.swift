/// The field numbers by which envelopes carry their bodies: proto2 extensions, on the wire fields like any other.
///
/// One number may mean a different message in each of the three envelopes.
/// Source: the extensions of the schema of JacquardSDKiOS; protocol article, "Bodies".
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
}
