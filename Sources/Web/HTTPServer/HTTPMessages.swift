/// A received HTTP request, complete with its body.
public struct HTTPRequest: Hashable, Sendable {
    /// Upper case, such as `GET`.
    public let method: String
    /// The decoded path without the query, such as `/events`.
    public let path: String
    /// The decoded arguments after `?` by name; of a repeated one, the first value.
    public let query: [String: String]
    /// Values by header name in lower case. Of a header that is sent several times, the values are joined by a comma and a space.
    public let headers: [String: String]
    /// The body, at most as long as ``HTTPLimits/bodyBytes``.
    public let body: [UInt8]
    /// The peer's IP address as text, without a port; empty if unknown. An IPv4 address in IPv6 form is written as IPv4.
    public let peer: String

    /// Creates a request.
    public init(
        method: String, path: String, query: [String: String] = [:], headers: [String: String] = [:],
        body: [UInt8] = [],
        peer: String = "127.0.0.1"
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
    }
}

/// An HTTP response with a body of known length.
public struct HTTPResponse: Hashable, Sendable {
    /// The status code, such as 200.
    public var status: Int
    /// Header names and values, in order. A name may occur several times.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first header with this name.
    public subscript(header: String) -> String? {
        headers.first { $0.name == header }?.value
    }

    /// Compares all parts.
    public static func == (one: HTTPResponse, other: HTTPResponse) -> Bool {
        one.status == other.status && one.body == other.body
            && one.headers.elementsEqual(other.headers) { $0 == $1 }
    }

    /// Hashes the status and the body.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(body)
    }
}

/// The bounds on what peers can send and hold.
public struct HTTPLimits: Hashable, Sendable {
    /// Largest size of the request line and headers together.
    public var headerBytes = 8192
    /// Largest body.
    public var bodyBytes = 8192
    /// Most connections.
    public var connections = 64
    /// When fewer connections than these are left, the one that has waited longest for a request is ended.
    public var spareConnections = 4
    /// Most connections of one address, see ``HTTPServerConfiguration/isSharedAddress``.
    public var connectionsPerAddress = 8
    /// Most connections of one IPv6 network, see ``PeerAddress/network(of:)``: of a host that uses many of its addresses.
    public var connectionsPerNetwork = 32
    /// How long a peer may take to send a request, and how long a connection may be unused.
    public var requestTime = Duration.seconds(10)
    /// How long a peer may take to read a response. Streams have ``streamBacklog`` instead.
    public var responseTime = Duration.seconds(60)
    /// Most bytes that wait for the reader of a stream.
    public var streamBacklog = 1 << 20

    /// The limits of the product.
    public init() {}
}
