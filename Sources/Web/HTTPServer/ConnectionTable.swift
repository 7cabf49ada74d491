import Time

/// State machine of the connections: how many each address and each network has, which ones have exceeded their time, and which
/// ones make room for others.
///
/// Only connections that wait for a request make room: unused ones, and those whose request is not complete.
struct ConnectionTable {
    /// Identifies a connection.
    typealias ID = UInt

    private struct Connection {
        let address: String
        let network: String
        /// When the next request must be complete, or the response be sent; nil while a request is handled, and for a stream.
        var deadline: Instant?
        /// Since when the connection waits for a request; nil while one is handled or a response is sent.
        var waiting: Waiting?
        /// Whether the server has ended it, and the library has not noticed yet.
        var isEnding = false
    }

    private struct Waiting {
        let number: UInt64
        let run: UInt64
    }

    private let limits: HTTPLimits
    private let isShared: @Sendable (String) -> Bool
    private var connections: [ID: Connection] = [:]
    private var lastNumber: UInt64 = 0
    private var runs: UInt64 = 0
    /// Whether an address, a network or all together may have too many connections, see ``takeUnused()``.
    private(set) var isCrowded = false

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
        let open = connections.values.filter { !$0.isEnding }
        let network = PeerAddress.network(of: address)
        return Self.hasRoom(open.filter { $0.address == address }, limits.connectionsPerAddress)
            && Self.hasRoom(open.filter { $0.network == network }, limits.connectionsPerNetwork)
    }

    /// Whether there may be one connection more than in a group, or one of the group can end.
    private static func hasRoom(_ group: [Connection], _ limit: Int) -> Bool {
        group.count < limit || group.contains { $0.waiting != nil }
    }

    /// Handles a new connection.
    mutating func began(_ id: ID, address: String, at now: Instant) {
        connections[id] = Connection(address: address, network: PeerAddress.network(of: address))
        wait(id, at: now)
        isCrowded = true
    }

    /// Returns the unused connections to end, so that there are not too many. Call it after a run of the library if ``isCrowded``;
    /// it then says whether to call it after the next run, too.
    ///
    /// A request that was sent with its connection is read in the run after the one in which the connection began: before that, the
    /// connection is not unused.
    mutating func takeUnused() -> [ID] {
        isCrowded = false
        var unused: [ID] = []
        while let id = firstUnused() {
            end(id)
            unused.append(id)
        }
        return unused
    }

    private mutating func firstUnused() -> ID? {
        for crowd in crowds {
            let waiting = crowd.compactMap { id, connection in connection.waiting.map { (id: id, since: $0) } }
            guard let oldest = waiting.min(by: { $0.since.number < $1.since.number }) else { continue }
            if oldest.since.run + 2 <= runs { return oldest.id }
            isCrowded = true
        }
        return nil
    }

    /// Connections of which one has to end: those of an address or a network that has too many; and with too many in all, those of
    /// the networks with the most that wait for a request.
    private var crowds: [[(key: ID, value: Connection)]] {
        let open = connections.filter { !$0.value.isEnding }
        let counted = open.filter { !isShared($0.value.address) }
        var crowds = Dictionary(grouping: counted, by: \.value.address).values.filter {
            $0.count > limits.connectionsPerAddress
        }
        crowds += Dictionary(grouping: counted, by: \.value.network).values.filter {
            $0.count > limits.connectionsPerNetwork
        }
        guard open.count > limits.connections - limits.spareConnections else { return crowds }
        let networks = Dictionary(grouping: open.filter { $0.value.waiting != nil }, by: \.value.network).values
        let most = networks.map(\.count).max()
        return crowds + [networks.filter { $0.count == most }.flatMap { $0 }]
    }

    /// Handles a run of the library.
    mutating func ran() {
        runs += 1
    }

    private mutating func wait(_ id: ID, at now: Instant) {
        lastNumber += 1
        connections[id]?.waiting = Waiting(number: lastNumber, run: runs)
        connections[id]?.deadline = now + limits.requestTime
    }

    private mutating func end(_ id: ID) {
        connections[id]?.isEnding = true
        connections[id]?.waiting = nil
        connections[id]?.deadline = nil
    }

    /// Handles a complete request.
    mutating func received(_ id: ID) {
        connections[id]?.waiting = nil
        connections[id]?.deadline = nil
    }

    /// Handles a response of known length that is now sent.
    mutating func responding(_ id: ID, at now: Instant) {
        guard connections[id]?.isEnding == false else { return }
        connections[id]?.waiting = nil
        connections[id]?.deadline = now + limits.responseTime
    }

    /// Handles the end of a response: the time for the next request begins.
    mutating func responded(_ id: ID, at now: Instant) {
        guard connections[id]?.isEnding == false else { return }
        wait(id, at: now)
    }

    /// Handles the end of a connection.
    mutating func ended(_ id: ID) {
        connections[id] = nil
    }

    /// Returns the connections whose time has expired. Each one is returned once.
    mutating func takeOverdue(at now: Instant) -> [ID] {
        let overdue = connections.filter { ($0.value.deadline ?? now + .seconds(1)) <= now }.map(\.key).sorted()
        for id in overdue { end(id) }
        return overdue
    }

    /// The earliest deadline.
    var nextDeadline: Instant? { connections.values.compactMap(\.deadline).min() }
}
