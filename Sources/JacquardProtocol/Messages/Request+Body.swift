import ProtobufWire

extension Request {
    /// The message that a request carries.
    public enum Body: Hashable, Sendable {
        /// Chooses the version of the protocol.
        case begin(BeginRequest)
        /// Asks what a component is.
        case deviceInfo(DeviceInfoRequest)
        /// Plays on an LED.
        case ledPattern(LEDPatternRequest)
        /// Asks for the battery.
        case batteryStatus(BatteryStatusRequest)
        /// Writes an element of the tag's own store.
        case configSet(ConfigSetRequest)
        /// Reads an element of the tag's own store.
        case configGet(ConfigGetRequest)
        /// Asks the tag to drop the link.
        case bleDisconnect(BLEDisconnectRequest)
        /// Plays on a motor.
        case haptic(HapticRequest)
        /// Switches between gestures and touch.
        case dataChannel(DataChannelRequest)
        /// Asks how the tag is set.
        case configRead(ConfigReadRequest)
        /// Changes how the tag is set.
        case configWrite(TagConfiguration)
    }
}

extension Request.Body {
    /// Nil if the field is no known body.
    init?(_ field: WireField) throws(MessageError) {
        guard var reader = field.message else { return nil }
        switch field.number {
        case ExtensionNumber.begin: self = .begin(try BeginRequest(&reader))
        case ExtensionNumber.deviceInfo: self = .deviceInfo(try DeviceInfoRequest(&reader))
        case ExtensionNumber.ledPattern: self = .ledPattern(try LEDPatternRequest(&reader))
        case ExtensionNumber.batteryStatus: self = .batteryStatus(try BatteryStatusRequest(&reader))
        case ExtensionNumber.configSet: self = .configSet(try ConfigSetRequest(&reader))
        case ExtensionNumber.configGet: self = .configGet(try ConfigGetRequest(&reader))
        case ExtensionNumber.bleDisconnect: self = .bleDisconnect(try BLEDisconnectRequest(&reader))
        case ExtensionNumber.haptic: self = .haptic(try HapticRequest(&reader))
        case ExtensionNumber.dataChannel: self = .dataChannel(try DataChannelRequest(&reader))
        case ExtensionNumber.configRead: self = .configRead(try ConfigReadRequest(&reader))
        case ExtensionNumber.configWrite: self = .configWrite(try TagConfiguration(&reader))
        default: return nil
        }
    }

    func write(to writer: inout WireWriter) {
        switch self {
        case .begin(let body): writer.write(body, field: ExtensionNumber.begin)
        case .deviceInfo(let body): writer.write(body, field: ExtensionNumber.deviceInfo)
        case .ledPattern(let body): writer.write(body, field: ExtensionNumber.ledPattern)
        case .batteryStatus(let body): writer.write(body, field: ExtensionNumber.batteryStatus)
        case .configSet(let body): writer.write(body, field: ExtensionNumber.configSet)
        case .configGet(let body): writer.write(body, field: ExtensionNumber.configGet)
        case .bleDisconnect(let body): writer.write(body, field: ExtensionNumber.bleDisconnect)
        case .haptic(let body): writer.write(body, field: ExtensionNumber.haptic)
        case .dataChannel(let body): writer.write(body, field: ExtensionNumber.dataChannel)
        case .configRead(let body): writer.write(body, field: ExtensionNumber.configRead)
        case .configWrite(let body): writer.write(body, field: ExtensionNumber.configWrite)
        }
    }
}
