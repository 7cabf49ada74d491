import ProtobufWire

/// What a tag answers: one packet on the response characteristic.
///
/// Source: `Response` of the schema.
public struct Response: Hashable, Sendable {
    /// The message that an answer carries.
    public enum Body: Hashable, Sendable {
        /// To hello.
        case hello(HelloResponse)
        /// To begin.
        case begin(BeginResponse)
        /// What a component is.
        case deviceInfo(DeviceInfoResponse)
        /// The battery.
        case batteryStatus(BatteryStatusReport)
        /// An element of the tag's own store.
        case configGet(ConfigGetResponse)
        /// To a haptic request.
        case haptic(HapticResponse)
        /// What gear reports from now on.
        case dataChannel(DataChannelResponse)
        /// How the tag is set: to reading it, and to changing it.
        case config(TagConfiguration)
    }

    /// The id of the request.
    public var id: UInt32
    /// Whether it was carried out.
    public var status: Status
    /// The component that answers; real tags send 0 or that of the gear.
    public var componentID: UInt32?
    /// What else it says.
    public var body: Body?

    /// Describes an answer.
    public init(id: UInt32, status: Status = .ok, componentID: UInt32? = nil, body: Body? = nil) {
        self.id = id
        self.status = status
        self.componentID = componentID
        self.body = body
    }

    /// The packet.
    public func encoded() -> [UInt8] {
        var writer = WireWriter()
        writer.write(id, field: 1)
        writer.write(status, field: 2)
        writer.write(componentID, field: 3)
        body?.write(to: &writer)
        return writer.bytes
    }

    /// Reads a packet.
    ///
    /// - Returns: the answer. The body is nil if there is none or it is unknown; of several the last counts.
    /// - Throws: ``MessageError`` if the bytes are no protobuf or a required field is missing.
    public static func decode(_ packet: ArraySlice<UInt8>) throws(MessageError) -> Response {
        var reader = WireReader(packet)
        var id: UInt32?
        var status: Status?
        var componentID: UInt32?
        var body: Body?
        while let field = try reader.next() {
            switch field.number {
            case 1: field.read(&id)
            case 2: field.read(&status)
            case 3: field.read(&componentID)
            default: body = try Body(field) ?? body
            }
        }
        return Response(
            id: try id.required("Response.id"),
            status: try status.required("Response.status"),
            componentID: componentID,
            body: body)
    }
}

extension Response.Body {
    /// Nil if the field is no known body.
    init?(_ field: WireField) throws(MessageError) {
        guard var reader = field.message else { return nil }
        switch field.number {
        case ExtensionNumber.hello: self = .hello(try HelloResponse(&reader))
        case ExtensionNumber.begin: self = .begin(try BeginResponse(&reader))
        case ExtensionNumber.deviceInfo: self = .deviceInfo(try DeviceInfoResponse(&reader))
        case ExtensionNumber.batteryStatus: self = .batteryStatus(try BatteryStatusReport(&reader))
        case ExtensionNumber.configGet: self = .configGet(try ConfigGetResponse(&reader))
        case ExtensionNumber.haptic: self = .haptic(try HapticResponse(&reader))
        case ExtensionNumber.dataChannel: self = .dataChannel(try DataChannelResponse(&reader))
        case ExtensionNumber.configWrite: self = .config(try TagConfiguration(&reader))
        default: return nil
        }
    }

    func write(to writer: inout WireWriter) {
        switch self {
        case .hello(let body): writer.write(body, field: ExtensionNumber.hello)
        case .begin(let body): writer.write(body, field: ExtensionNumber.begin)
        case .deviceInfo(let body): writer.write(body, field: ExtensionNumber.deviceInfo)
        case .batteryStatus(let body): writer.write(body, field: ExtensionNumber.batteryStatus)
        case .configGet(let body): writer.write(body, field: ExtensionNumber.configGet)
        case .haptic(let body): writer.write(body, field: ExtensionNumber.haptic)
        case .dataChannel(let body): writer.write(body, field: ExtensionNumber.dataChannel)
        case .config(let body): writer.write(body, field: ExtensionNumber.configWrite)
        }
    }
}
