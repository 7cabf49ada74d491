import Time

/// The order in which the nodes of a broker are tried.
///
/// A node that fails is followed by the next one at once. A pause comes after a round, in which every node has failed
/// once. Without other nodes, each failure ends a round.
struct NodeRound {
    private let count: Int
    private let first: Int
    private let prefersFirst: Bool
    /// The node of the next attempt.
    private(set) var current: Int
    /// The node at which this round began.
    private var start: Int
    /// How many nodes have failed in this round.
    private var failed = 0

    /// A round that begins at its first node.
    ///
    /// - Parameters:
    ///   - count: the number of nodes, at least 1.
    ///   - order: which of them is the first one.
    ///   - prefersFirst: whether the first node is tried first in each round, instead of the one after the last failure. In
    ///     a round that begins with a lost connection to another node, it is the next one.
    init(count: Int, order: MQTTConfiguration.Order, prefersFirst: Bool) {
        self.count = max(count, 1)
        self.prefersFirst = prefersFirst
        first =
            switch order {
            case .listed: 0
            case .spread(let key): Int(Self.hash(key) % UInt64(self.count))
            }
        current = first
        start = first
    }

    /// Goes on to the next node after an attempt or a connection has failed.
    ///
    /// - Parameter isNodeFailure: whether another node may succeed at once. If not, the next node is tried after a
    ///   pause.
    /// - Returns: whether the next attempt can be made without a pause.
    mutating func advance(isNodeFailure: Bool) -> Bool {
        failed += 1
        if isNodeFailure, failed < count {
            current = node(failed)
            return true
        }
        current = prefersFirst ? first : (current + 1) % count
        restart()
        return false
    }

    /// The node that is tried after so many failures of this round.
    private func node(_ failures: Int) -> Int {
        guard prefersFirst, start != first else { return (start + failures) % count }
        let others = (0..<count).map { (first + $0) % count }.filter { $0 != start }
        return others[failures - 1]
    }

    /// Whether there is more than one node.
    var hasSeveral: Bool { count > 1 }

    /// Whether all other nodes have failed in this round.
    var isLast: Bool { failed + 1 >= count }

    /// Begins a new round at the current node. A connection that has lasted does this: the other nodes may be back.
    mutating func restart() {
        (failed, start) = (0, current)
    }

    /// FNV-1a with the final mixing step of MurmurHash3, which makes the low bits depend on all of the key.
    ///
    /// Source: the algorithms' published definitions.
    static func hash(_ key: String) -> UInt64 {
        var hash = FNV1a(key.utf8).value
        hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ (hash >> 33)
    }
}

extension MQTTError {
    /// Whether another node of the broker may accept the client at once. Wrong credentials are wrong at each of them,
    /// and a session that another client has taken over exists at each of them.
    var isNodeFailure: Bool { !Self.clientFailures.contains(code) }

    private static let clientFailures: Set<Code> = [
        .badUserNameOrPassword, .notAuthorized, .sessionTakenOver, .invalidConfiguration, .clientCertificate, .stopped,
        .init("client_identifier_not_valid"), .init("banned"), .init("bad_authentication_method"),
    ]
}
