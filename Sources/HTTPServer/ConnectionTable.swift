import Time

/// State machine of the connections: how many each address and each network has, and which ones have exceeded the time for a request.
struct ConnectionTable {
    /// Identifies a connection.
    typealias ID = UInt

    private struct Connection {
        let address: String
        let network: String
        /// When the next request must be complete; nil while one is handled.
        var deadline: Instant?
    }

    private let limits: HTTPLimits
    private let isShared: @Sendable (String) -> Bool
    private var connections: [ID: Connection] = [:]

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - limits: the bounds.
    ///   - isShared: whether many users may connect from an address, so that its connections are not counted.
    init(limits: HTTPLimits, isShared: @escaping @Sendable (String) -> Bool) {
        self.limits = limits
        self.isShared = isShared
    }

    /// The number of connections.
    var count: Int { connections.count }

    /// Whether another connection of an address may begin.
    func accepts(_ address: String) -> Bool {
        guard connections.count < limits.connections else { return false }
        guard !isShared(address) else { return true }
        let network = PeerAddress.network(of: address)
        return connections.values.count { $0.address == address } < limits.connectionsPerAddress
            && connections.values.count { $0.network == network } < limits.connectionsPerNetwork
    }

    /// Handles a new connection.
    mutating func began(_ id: ID, address: String, at now: Instant) {
        connections[id] = Connection(
            address: address, network: PeerAddress.network(of: address), deadline: now + limits.requestTime)
    }

    /// Handles a complete request. Its handling and response are not limited by this table.
    mutating func received(_ id: ID) {
        connections[id]?.deadline = nil
    }

    /// Handles the end of a response: the time for the next request begins.
    mutating func responded(_ id: ID, at now: Instant) {
        connections[id]?.deadline = now + limits.requestTime
    }

    /// Handles the end of a connection.
    mutating func ended(_ id: ID) {
        connections[id] = nil
    }

    /// Returns the connections whose time has expired. Each one is returned once.
    mutating func takeOverdue(at now: Instant) -> [ID] {
        let overdue = connections.filter { ($0.value.deadline ?? now + .seconds(1)) <= now }.map(\.key).sorted()
        for id in overdue { connections[id]?.deadline = nil }
        return overdue
    }

    /// The earliest deadline.
    var nextDeadline: Instant? { connections.values.compactMap(\.deadline).min() }
}
