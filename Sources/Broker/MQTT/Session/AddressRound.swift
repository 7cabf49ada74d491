/// Which of a broker's addresses a link uses.
package enum AddressChoice: Sendable, Hashable {
    /// The first one of a new lookup. Those that are named here come last.
    case lookup(last: [String])
    /// One that an earlier lookup has found.
    case address(String)
}

/// A failed attempt to connect to one address of a broker.
public struct MQTTAddressFailure: Sendable, Hashable {
    /// The address as text.
    public let address: String
    /// The cause.
    public let error: MQTTError

    package init(address: String, error: MQTTError) {
        (self.address, self.error) = (address, error)
    }
}

/// The order in which the addresses of a broker's name are tried.
///
/// An attempt looks the name up once, and tries one address after the other until a broker answers. An address that does not
/// answer in time comes last in later attempts, so that it delays only one.
struct AddressRound {
    /// The addresses that have failed in this attempt, in order.
    private(set) var failures: [MQTTAddressFailure] = []
    /// The address that is tried; nil before the lookup has ended.
    private(set) var current: String?
    /// The addresses that have not been tried in this attempt.
    private(set) var waiting: [String] = []
    private var slow: [String] = []

    /// Begins an attempt.
    mutating func begin() -> AddressChoice {
        (failures, current, waiting) = ([], nil, [])
        return .lookup(last: slow)
    }

    /// The lookup has found these addresses; the first one is tried.
    mutating func found(_ addresses: [String]) {
        guard current == nil, let first = addresses.first else { return }
        (current, waiting) = (first, Array(addresses.dropFirst()))
    }

    /// Handles an accepted connection.
    mutating func accepted() {
        slow.removeAll { $0 == current }
    }

    /// Handles the failure of the current address.
    ///
    /// - Returns: the next one; nil if another address does not help, or none is left.
    mutating func failed(_ error: MQTTError, isOverdue: Bool) -> AddressChoice? {
        guard let current else { return nil }
        failures.append(MQTTAddressFailure(address: current, error: error))
        slow.removeAll { $0 == current }
        if isOverdue || error.code == .timeout { slow = (slow + [current]).suffix(BrokerAddresses.limit) }
        guard error.isAddressFailure, let next = waiting.first else { return nil }
        waiting.removeFirst()
        self.current = next
        return .address(next)
    }

    /// The outcome of an attempt in which every address has failed: the error that says most, with the addresses.
    func error(_ last: MQTTError) -> MQTTError {
        guard failures.count > 1 || (!waiting.isEmpty && last.isAddressFailure) else { return last }
        let most = failures.map(\.error).first { $0.code != .unreachable } ?? last
        var texts: [String] = []
        for failure in failures where !texts.contains(failure.error.text) { texts.append(failure.error.text) }
        let parts = texts.map { text in
            let addresses = failures.filter { $0.error.text == text }.map(\.address)
            return "\(text) (\(addresses.joined(separator: ", ")))"
        }
        return MQTTError(most.code, parts.joined(separator: "; "), underlying: most.underlying)
    }

    /// The addresses in the order in which they are tried.
    static func ordered(_ addresses: [String], last: [String]) -> [String] {
        addresses.filter { !last.contains($0) } + last.filter(addresses.contains)
    }
}

extension MQTTError {
    /// Whether another address of the same name may accept the client.
    var isAddressFailure: Bool {
        isNodeFailure && code != .unsupportedProtocolVersion && code != .sessionRefused
    }
}
