import ProtobufWire

/// What a tag tells unasked: one packet on the notify characteristic.
///
/// What it is about is said by the bodies that are there, never by domain and opcode; one may carry several.
/// Source: `Notification` of the schema.
public struct Notification: Hashable, Sendable {
    /// Which part of the firmware tells it.
    public var domain: Domain
    /// What it tells.
    public var opcode: Opcode
    /// The component that it is about; real tags send 0 or that of the gear.
    public var componentID: UInt32?

    /// The tag is about to drop the link.
    public var disconnect: DisconnectNotification?
    /// Gear was attached or detached.
    public var attached: AttachedNotification?
    /// Something failed.
    public var error: ErrorNotification?
    /// Something about a pattern on the LED.
    public var ledPattern: LEDPatternNotification?
    /// The battery.
    public var batteryStatus: BatteryStatusReport?
    /// A gesture, a touch, or both.
    public var dataChannel: DataChannelNotification?

    /// A notification without a body.
    public init(domain: Domain, opcode: Opcode, componentID: UInt32? = nil) {
        self.domain = domain
        self.opcode = opcode
        self.componentID = componentID
    }

    /// The packet.
    public func encoded() -> [UInt8] {
        var writer = WireWriter()
        writer.write(domain, field: 1)
        writer.write(opcode, field: 2)
        writer.write(componentID, field: 3)
        writer.write(disconnect, field: ExtensionNumber.disconnectNotification)
        writer.write(attached, field: ExtensionNumber.attached)
        writer.write(error, field: ExtensionNumber.errorNotification)
        writer.write(ledPattern, field: ExtensionNumber.ledPattern)
        writer.write(batteryStatus, field: ExtensionNumber.batteryStatus)
        writer.write(dataChannel, field: ExtensionNumber.dataChannelNotification)
        return writer.bytes
    }

    /// Reads a packet.
    ///
    /// - Throws: ``MessageError`` if the bytes are no protobuf or a required field is missing.
    public static func decode(_ packet: ArraySlice<UInt8>) throws(MessageError) -> Notification {
        var reader = WireReader(packet)
        var domain: Domain?
        var opcode: Opcode?
        var notification = Notification(domain: .base, opcode: Opcode(rawValue: 0))
        while let field = try reader.next() {
            switch field.number {
            case 1: field.read(&domain)
            case 2: field.read(&opcode)
            case 3: field.read(&notification.componentID)
            default: try notification.readBody(field)
            }
        }
        notification.domain = try domain.required("Notification.domain")
        notification.opcode = try opcode.required("Notification.opcode")
        return notification
    }

    private mutating func readBody(_ field: WireField) throws(MessageError) {
        switch field.number {
        case ExtensionNumber.dataChannelNotification: try field.read(&dataChannel)
        case ExtensionNumber.batteryStatus: try field.read(&batteryStatus)
        case ExtensionNumber.attached: try field.read(&attached)
        case ExtensionNumber.disconnectNotification: try field.read(&disconnect)
        case ExtensionNumber.errorNotification: try field.read(&error)
        case ExtensionNumber.ledPattern: try field.read(&ledPattern)
        default: break
        }
    }
}
