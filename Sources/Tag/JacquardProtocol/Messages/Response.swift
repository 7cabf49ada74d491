import ProtobufWire

/// A tag's response to a request: one packet on the response characteristic.
///
/// Source: `Response` of the schema.
public struct Response: Equatable, Sendable {
    /// The message that a response carries.
    public enum Body: Equatable, Sendable {
        /// The response to hello.
        case hello(HelloResponse)
        /// The response to begin.
        case begin(BeginResponse)
        /// The description of a component.
        case deviceInfo(DeviceInfoResponse)
        /// The battery.
        case batteryStatus(BatteryStatusReport)
        /// An element of the tag's key-value store.
        case configGet(ConfigGetResponse)
        /// The response to a haptic request.
        case haptic(HapticResponse)
        /// The kind of reports that gear sends from now on.
        case dataChannel(DataChannelResponse)
        /// The tag's configuration, after it was read or changed.
        case config(TagConfiguration)
        /// The tag's loadable modules.
        case modules(ListModuleResponse)
        /// The state of motion data after start.
        case motionStart(MotionStatusResponse)
        /// The state of motion data after stop.
        case motionStop(MotionStopResponse)
        /// The state of motion data.
        case motionStatus(MotionStatusResponse)
        /// The state of motion data before a list of sessions.
        case motionSessionList(MotionStatusResponse)
        /// The state of motion data before a transfer.
        case motionDownload(MotionDownloadResponse)
        /// The state of motion data before a session is erased.
        case motionErase(MotionStatusResponse)
        /// The state of motion data before all sessions are erased.
        case motionEraseAll(MotionStatusResponse)
    }

    /// The id of the request.
    public var id: UInt32
    /// Whether the tag carried out the request.
    public var status: Status
    /// The component that responds; real tags send 0 or the gear's number.
    public var componentID: UInt32?
    /// The result; nil for a status alone.
    public var body: Body?

    /// Creates a response.
    public init(id: UInt32, status: Status = .ok, componentID: UInt32? = nil, body: Body? = nil) {
        self.id = id
        self.status = status
        self.componentID = componentID
        self.body = body
    }

    /// The packet.
    public func encoded() -> [UInt8] { packet }

    /// Reads a packet.
    ///
    /// - Returns: the response. The body is nil if it is absent, unknown or incomplete; of several, the last one
    ///   counts.
    /// - Throws: ``MessageError`` if the bytes are not protobuf or a required field is missing.
    public static func decode(_ packet: ArraySlice<UInt8>) throws(MessageError) -> Response {
        try Response(packet: packet)
    }
}

extension Response: WireMessage {
    init() {
        self.init(id: 0)
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &id, "Response.id")
        try fields.required(2, &status, "Response.status")
        try fields.optional(3, &componentID)
        try fields.choice(&body)
    }
}

extension Response.Body: FieldChoice {
    /// Ignores a body that cannot be read: the id still identifies the request.
    static func read(_ field: WireField, into value: inout Self?) throws(MessageError) {
        guard var reader = field.message, let body = try? Self(number: field.number, &reader) else { return }
        value = body
    }

    private init?(number: UInt32, _ reader: inout WireReader) throws(MessageError) {
        switch number {
        case ExtensionNumber.hello: self = .hello(try HelloResponse(&reader))
        case ExtensionNumber.begin: self = .begin(try BeginResponse(&reader))
        case ExtensionNumber.deviceInfo: self = .deviceInfo(try DeviceInfoResponse(&reader))
        case ExtensionNumber.batteryStatus: self = .batteryStatus(try BatteryStatusReport(&reader))
        case ExtensionNumber.configGet: self = .configGet(try ConfigGetResponse(&reader))
        case ExtensionNumber.haptic: self = .haptic(try HapticResponse(&reader))
        case ExtensionNumber.dataChannel: self = .dataChannel(try DataChannelResponse(&reader))
        case ExtensionNumber.configWrite: self = .config(try TagConfiguration(&reader))
        case ExtensionNumber.listModules: self = .modules(try ListModuleResponse(&reader))
        case ExtensionNumber.motionStart: self = .motionStart(try MotionStatusResponse(&reader))
        case ExtensionNumber.motionStop: self = .motionStop(try MotionStopResponse(&reader))
        case ExtensionNumber.motionStatus: self = .motionStatus(try MotionStatusResponse(&reader))
        case ExtensionNumber.sessionList: self = .motionSessionList(try MotionStatusResponse(&reader))
        case ExtensionNumber.motionDownload: self = .motionDownload(try MotionDownloadResponse(&reader))
        case ExtensionNumber.motionErase: self = .motionErase(try MotionStatusResponse(&reader))
        case ExtensionNumber.motionEraseAll: self = .motionEraseAll(try MotionStatusResponse(&reader))
        default: return nil
        }
    }

    func write(to writer: inout WireWriter) {
        switch self {
        case .hello(let body): body.write(to: &writer, field: ExtensionNumber.hello)
        case .begin(let body): body.write(to: &writer, field: ExtensionNumber.begin)
        case .deviceInfo(let body): body.write(to: &writer, field: ExtensionNumber.deviceInfo)
        case .batteryStatus(let body): body.write(to: &writer, field: ExtensionNumber.batteryStatus)
        case .configGet(let body): body.write(to: &writer, field: ExtensionNumber.configGet)
        case .haptic(let body): body.write(to: &writer, field: ExtensionNumber.haptic)
        case .dataChannel(let body): body.write(to: &writer, field: ExtensionNumber.dataChannel)
        case .config(let body): body.write(to: &writer, field: ExtensionNumber.configWrite)
        case .modules(let body): body.write(to: &writer, field: ExtensionNumber.listModules)
        case .motionStart(let body): body.write(to: &writer, field: ExtensionNumber.motionStart)
        case .motionStop(let body): body.write(to: &writer, field: ExtensionNumber.motionStop)
        case .motionStatus(let body): body.write(to: &writer, field: ExtensionNumber.motionStatus)
        case .motionSessionList(let body): body.write(to: &writer, field: ExtensionNumber.sessionList)
        case .motionDownload(let body): body.write(to: &writer, field: ExtensionNumber.motionDownload)
        case .motionErase(let body): body.write(to: &writer, field: ExtensionNumber.motionErase)
        case .motionEraseAll(let body): body.write(to: &writer, field: ExtensionNumber.motionEraseAll)
        }
    }
}
