import ProtobufWire

/// A notification about modules or motion data.
///
/// It is the same packet as a ``Notification``. Those bodies are read only while the client expects them, so that a gesture
/// costs nothing more.
public struct MotionNotification: Equatable, Sendable {
    /// The part of the firmware that sends it.
    public var domain: Domain
    /// The kind of notification.
    public var opcode: Opcode
    /// The component that it is about.
    public var componentID: UInt32?
    /// An error, or the end of erasing: its number is a ``MotionStatus``.
    public var error: ErrorNotification?
    /// A session of a list.
    public var session: MotionSessionEntry?
    /// The outcome of loading a module.
    public var module: LoadModuleNotification?

    /// Creates a notification without a body.
    public init(domain: Domain, opcode: Opcode, componentID: UInt32? = nil) {
        self.domain = domain
        self.opcode = opcode
        self.componentID = componentID
    }

    /// The packet.
    public func encoded() -> [UInt8] { packet }

    /// Reads a packet.
    ///
    /// - Throws: ``MessageError`` if the bytes are not protobuf or a required field is missing.
    public static func decode(_ packet: ArraySlice<UInt8>) throws(MessageError) -> MotionNotification {
        try MotionNotification(packet: packet)
    }
}

extension MotionNotification: WireMessage {
    init() {
        self.init(domain: .base, opcode: Opcode(rawValue: 0))
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &domain, "Notification.domain")
        try fields.required(2, &opcode, "Notification.opcode")
        try fields.optional(3, &componentID)
        try fields.optional(ExtensionNumber.errorNotification, &error)
        try fields.optional(ExtensionNumber.sessionList, &session)
        try fields.optional(ExtensionNumber.loadModule, &module)
    }
}

/// The notifications, as a simulated tag sends them.
extension MotionNotification {
    /// Reports a session of a list; nil if there is none.
    public static func session(
        _ session: StoredMotionSession?, index: UInt32, total: UInt32
    ) -> MotionNotification {
        var notification = MotionNotification(domain: .motion, opcode: .motionSessionList)
        notification.session = MotionSessionEntry(session, index: index, total: total)
        return notification
    }

    /// Reports an error of motion data, or the end of erasing.
    public static func status(_ status: MotionStatus) -> MotionNotification {
        var notification = MotionNotification(domain: .base, opcode: .error, componentID: Component.tagComponentID)
        notification.error = ErrorNotification(subsystem: Domain.motion.rawValue, errorCode: status.rawValue)
        return notification
    }

    /// Reports the outcome of loading a module.
    public static func loaded(_ module: ModuleDescriptor, status: Status) -> MotionNotification {
        var notification = MotionNotification(
            domain: .base, opcode: .loadModule, componentID: Component.tagComponentID)
        notification.module = LoadModuleNotification(status: status, module: module)
        return notification
    }
}
