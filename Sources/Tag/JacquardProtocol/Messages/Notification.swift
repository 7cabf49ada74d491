/// A tag's notification, sent without a request: one packet on the notify characteristic.
///
/// Its meaning follows from the bodies that are present, never from domain and opcode; it may carry several bodies.
/// Source: `Notification` of the schema.
public struct Notification: Equatable, Sendable {
    /// The part of the firmware that sends it.
    public var domain: Domain
    /// The kind of notification.
    public var opcode: Opcode
    /// The component that it is about; real tags send 0 or the gear's number.
    public var componentID: UInt32?

    /// Gear was attached or detached.
    public var attached: AttachedNotification?
    /// The battery.
    public var batteryStatus: BatteryStatusReport?
    /// A gesture, a touch, or both.
    public var dataChannel: DataChannelNotification?
    /// The other bodies, in the order of their numbers. Each is read by a property that is declared beside its message, and costs nothing
    /// until then.
    fileprivate(set) var others: [OtherBody] = []

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
    public static func decode(_ packet: ArraySlice<UInt8>) throws(MessageError) -> Notification {
        try Notification(packet: packet)
    }
}

extension Notification: WireMessage {
    init() {
        self.init(domain: .base, opcode: Opcode(rawValue: 0))
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &domain, "Notification.domain")
        try fields.required(2, &opcode, "Notification.opcode")
        try fields.optional(3, &componentID)
        try fields.optional(ExtensionNumber.attached, &attached)
        try fields.optional(ExtensionNumber.batteryStatus, &batteryStatus)
        try fields.optional(ExtensionNumber.dataChannelNotification, &dataChannel)
        fields.others(&others)
    }
}

/// A body of a notification that only its readers know.
struct OtherBody: Equatable, Sendable {
    /// The most bodies of a packet that are read. Real tags send one.
    static let most = 8

    /// The number of its field.
    let number: UInt32
    /// The message.
    let bytes: [UInt8]
}

extension [OtherBody] {
    /// Replaces a body; nil removes it. Beyond ``OtherBody/most``, further ones are ignored.
    mutating func set(_ number: UInt32, to bytes: [UInt8]?) {
        removeAll { $0.number == number }
        guard let bytes, count < OtherBody.most else { return }
        insert(OtherBody(number: number, bytes: bytes), at: firstIndex { $0.number > number } ?? endIndex)
    }
}

extension Notification {
    /// A body by the number of its field; nil if there is none, or if it lacks a required field.
    subscript<Body: WireMessage>(number: UInt32) -> Body? {
        get { others.first { $0.number == number }.flatMap { try? Body(packet: $0.bytes[...]) } }
        set { others.set(number, to: newValue?.packet) }
    }
}

/// The common notifications, as a simulated tag sends them.
extension Notification {
    /// Reports the battery.
    public static func batteryStatus(_ status: BatteryStatus) -> Notification {
        var notification = Notification(
            domain: .base, opcode: .batteryStatus, componentID: Component.tagComponentID)
        notification.batteryStatus = BatteryStatusReport(status)
        return notification
    }

    /// Reports attached gear; with an empty body, that no gear is attached.
    public static func attached(_ body: AttachedNotification) -> Notification {
        var notification = Notification(domain: .base, opcode: .attached, componentID: Component.tagComponentID)
        notification.attached = body
        return notification
    }

    /// Reports a gesture or a touch on gear.
    public static func dataChannel(_ body: DataChannelNotification, component componentID: UInt32) -> Notification {
        var notification = Notification(domain: .gear, opcode: .gearData, componentID: componentID)
        notification.dataChannel = body
        return notification
    }
}
