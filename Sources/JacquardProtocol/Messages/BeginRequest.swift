import ProtobufWire

/// Chooses the version of the protocol for this connection.
///
/// Source: `BeginRequest`, extension 101 of `Request`.
public struct BeginRequest: Hashable, Sendable {
    /// The version.
    public var protocolVersion: UInt32
    /// What this is for is not known; no SDK sends it.
    public var authChallenge: [UInt8]?
    /// What this is for is not known; no SDK sends it.
    public var authResponse: [UInt8]?

    /// Describes a request.
    public init(protocolVersion: UInt32) {
        self.protocolVersion = protocolVersion
    }
}

extension BeginRequest: WireMessage {
    init(_ reader: inout WireReader) throws(MessageError) {
        var protocolVersion: UInt32?
        var authChallenge: [UInt8]?
        var authResponse: [UInt8]?
        while let field = try reader.next() {
            switch field.number {
            case 1: field.read(&protocolVersion)
            case 2: field.read(&authChallenge)
            case 3: field.read(&authResponse)
            default: break
            }
        }
        self.init(protocolVersion: try protocolVersion.required("BeginRequest.protocol"))
        self.authChallenge = authChallenge
        self.authResponse = authResponse
    }

    func write(to writer: inout WireWriter) {
        writer.write(protocolVersion, field: 1)
        writer.write(authChallenge, field: 2)
        writer.write(authResponse, field: 3)
    }
}
