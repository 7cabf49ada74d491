import ProtobufWire

/// A client's request to a tag: one packet on the command characteristic.
///
/// The request's id is not part of it: an id is assigned each time the request is sent. Source: `Request` of the
/// schema.
public struct Request: Equatable, Sendable {
    /// The message that a request carries.
    ///
    /// Indirect, because a request is copied several times on its way to the tag.
    public indirect enum Body: Equatable, Sendable {
        /// Chooses the version of the protocol.
        case begin(BeginRequest)
        /// Reads what a component is.
        case deviceInfo(DeviceInfoRequest)
        /// Plays on an LED.
        case ledPattern(LEDPatternRequest)
        /// Reads the battery.
        case batteryStatus(BatteryStatusRequest)
        /// Writes an element of the tag's key-value store.
        case configSet(ConfigSetRequest)
        /// Reads an element of the tag's key-value store.
        case configGet(ConfigGetRequest)
        /// Makes the tag drop the link.
        case bleDisconnect(BLEDisconnectRequest)
        /// Plays on a motor.
        case haptic(HapticRequest)
        /// Switches between gestures and touch.
        case dataChannel(DataChannelRequest)
        /// Reads the tag's configuration.
        case configRead(ConfigReadRequest)
        /// Changes the tag's configuration.
        case configWrite(TagConfiguration)
        /// Starts collecting motion data.
        case motionStart(MotionStartRequest)
        /// Stops collecting motion data, or a transfer.
        case motionStop(MotionStopRequest)
        /// Reads the state of motion data.
        case motionStatus(MotionRequest)
        /// Lists the recorded sessions.
        case motionSessionList(MotionRequest)
        /// Starts the transfer of a session.
        case motionDownload(MotionDownloadRequest)
        /// Erases a session.
        case motionErase(MotionEraseRequest)
        /// Erases all sessions.
        case motionEraseAll(MotionRequest)
        /// Loads a module.
        case loadModule(ModuleRequest)
        /// Unloads a module.
        case unloadModule(ModuleRequest)
        /// Deletes a module.
        case deleteModule(ModuleRequest)
    }

    /// The part of the firmware that the request is for.
    public var domain: Domain
    /// The operation.
    public var opcode: Opcode
    /// The component that the request is for; nil is the tag.
    public var componentID: UInt32?
    /// The operation's parameters; hello has none.
    public var body: Body?

    /// Creates a request.
    public init(domain: Domain, opcode: Opcode, componentID: UInt32? = nil, body: Body? = nil) {
        self.domain = domain
        self.opcode = opcode
        self.componentID = componentID
        self.body = body
    }

    /// The packet. The response carries the same id; use 1 to 254.
    public func encoded(id: UInt32) -> [UInt8] {
        RequestPacket(id: id, request: self).packet
    }

    /// Reads a packet.
    ///
    /// - Returns: the request and its id. The body is nil if it is absent or unknown; of several, the last one counts.
    /// - Throws: ``MessageError`` if the bytes are not protobuf or a required field is missing.
    public static func decode(_ packet: ArraySlice<UInt8>) throws(MessageError) -> (id: UInt32, request: Request) {
        let packet = try RequestPacket(packet: packet)
        return (packet.id, packet.request)
    }
}

/// A request with its id, as one message of the schema.
private struct RequestPacket: WireMessage {
    var id: UInt32 = 0
    var request = Request(domain: .base, opcode: Opcode(rawValue: 0))

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &request.domain, "Request.domain")
        try fields.required(2, &request.opcode, "Request.opcode")
        try fields.required(3, &id, "Request.id")
        try fields.optional(4, &request.componentID)
        try fields.choice(&request.body)
    }
}

extension Request.Body: FieldChoice {
    static func read(_ field: WireField, into value: inout Self?) throws(MessageError) {
        guard var reader = field.message else { return }
        switch field.number {
        case ExtensionNumber.begin: value = .begin(try BeginRequest(&reader))
        case ExtensionNumber.deviceInfo: value = .deviceInfo(try DeviceInfoRequest(&reader))
        case ExtensionNumber.ledPattern: value = .ledPattern(try LEDPatternRequest(&reader))
        case ExtensionNumber.batteryStatus: value = .batteryStatus(try BatteryStatusRequest(&reader))
        case ExtensionNumber.configSet: value = .configSet(try ConfigSetRequest(&reader))
        case ExtensionNumber.configGet: value = .configGet(try ConfigGetRequest(&reader))
        case ExtensionNumber.bleDisconnect: value = .bleDisconnect(try BLEDisconnectRequest(&reader))
        case ExtensionNumber.haptic: value = .haptic(try HapticRequest(&reader))
        case ExtensionNumber.dataChannel: value = .dataChannel(try DataChannelRequest(&reader))
        case ExtensionNumber.configRead: value = .configRead(try ConfigReadRequest(&reader))
        case ExtensionNumber.configWrite: value = .configWrite(try TagConfiguration(&reader))
        case ExtensionNumber.motionStart: value = .motionStart(try MotionStartRequest(&reader))
        case ExtensionNumber.motionStop: value = .motionStop(try MotionStopRequest(&reader))
        case ExtensionNumber.motionStatus: value = .motionStatus(try MotionRequest(&reader))
        case ExtensionNumber.sessionList: value = .motionSessionList(try MotionRequest(&reader))
        case ExtensionNumber.motionDownload: value = .motionDownload(try MotionDownloadRequest(&reader))
        case ExtensionNumber.motionErase: value = .motionErase(try MotionEraseRequest(&reader))
        case ExtensionNumber.motionEraseAll: value = .motionEraseAll(try MotionRequest(&reader))
        case ExtensionNumber.loadModule: value = .loadModule(try ModuleRequest(&reader))
        case ExtensionNumber.unloadModule: value = .unloadModule(try ModuleRequest(&reader))
        case ExtensionNumber.deleteModule: value = .deleteModule(try ModuleRequest(&reader))
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        switch self {
        case .begin(let body): body.write(to: &writer, field: ExtensionNumber.begin)
        case .deviceInfo(let body): body.write(to: &writer, field: ExtensionNumber.deviceInfo)
        case .ledPattern(let body): body.write(to: &writer, field: ExtensionNumber.ledPattern)
        case .batteryStatus(let body): body.write(to: &writer, field: ExtensionNumber.batteryStatus)
        case .configSet(let body): body.write(to: &writer, field: ExtensionNumber.configSet)
        case .configGet(let body): body.write(to: &writer, field: ExtensionNumber.configGet)
        case .bleDisconnect(let body): body.write(to: &writer, field: ExtensionNumber.bleDisconnect)
        case .haptic(let body): body.write(to: &writer, field: ExtensionNumber.haptic)
        case .dataChannel(let body): body.write(to: &writer, field: ExtensionNumber.dataChannel)
        case .configRead(let body): body.write(to: &writer, field: ExtensionNumber.configRead)
        case .configWrite(let body): body.write(to: &writer, field: ExtensionNumber.configWrite)
        case .motionStart(let body): body.write(to: &writer, field: ExtensionNumber.motionStart)
        case .motionStop(let body): body.write(to: &writer, field: ExtensionNumber.motionStop)
        case .motionStatus(let body): body.write(to: &writer, field: ExtensionNumber.motionStatus)
        case .motionSessionList(let body): body.write(to: &writer, field: ExtensionNumber.sessionList)
        case .motionDownload(let body): body.write(to: &writer, field: ExtensionNumber.motionDownload)
        case .motionErase(let body): body.write(to: &writer, field: ExtensionNumber.motionErase)
        case .motionEraseAll(let body): body.write(to: &writer, field: ExtensionNumber.motionEraseAll)
        case .loadModule(let body): body.write(to: &writer, field: ExtensionNumber.loadModule)
        case .unloadModule(let body): body.write(to: &writer, field: ExtensionNumber.unloadModule)
        case .deleteModule(let body): body.write(to: &writer, field: ExtensionNumber.deleteModule)
        }
    }
}
