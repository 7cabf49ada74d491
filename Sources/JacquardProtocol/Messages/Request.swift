import ProtobufWire

/// What a client asks of a tag: one packet on the command characteristic.
///
/// Its id is not part of it, for it is given when the request is sent, and again if it is sent a second time.
/// Source: `Request` of the schema.
public struct Request: Hashable, Sendable {
    /// Which part of the firmware it is for.
    public var domain: Domain
    /// What it asks for.
    public var opcode: Opcode
    /// Which component it is for; nil names none, and such a request is for the tag.
    public var componentID: UInt32?
    /// What else it says; hello, for one, says nothing else.
    public var body: Body?

    /// Describes a request.
    public init(domain: Domain, opcode: Opcode, componentID: UInt32? = nil, body: Body? = nil) {
        self.domain = domain
        self.opcode = opcode
        self.componentID = componentID
        self.body = body
    }

    /// The packet. The id comes back in the answer; use 1 to 254.
    public func encoded(id: UInt32) -> [UInt8] {
        var writer = WireWriter()
        writer.write(domain, field: 1)
        writer.write(opcode, field: 2)
        writer.write(id, field: 3)
        writer.write(componentID, field: 4)
        body?.write(to: &writer)
        return writer.bytes
    }

    /// Reads a packet.
    ///
    /// - Returns: the request and its id. The body is nil if there is none or it is unknown; of several the last counts.
    /// - Throws: ``MessageError`` if the bytes are no protobuf or a required field is missing.
    public static func decode(_ packet: ArraySlice<UInt8>) throws(MessageError) -> (id: UInt32, request: Request) {
        var reader = WireReader(packet)
        var domain: Domain?
        var opcode: Opcode?
        var id: UInt32?
        var componentID: UInt32?
        var body: Body?
        while let field = try reader.next() {
            switch field.number {
            case 1: field.read(&domain)
            case 2: field.read(&opcode)
            case 3: field.read(&id)
            case 4: field.read(&componentID)
            default: body = try Body(field) ?? body
            }
        }
        let request = Request(
            domain: try domain.required("Request.domain"),
            opcode: try opcode.required("Request.opcode"),
            componentID: componentID,
            body: body)
        return (try id.required("Request.id"), request)
    }
}
