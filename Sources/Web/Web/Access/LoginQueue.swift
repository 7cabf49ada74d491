import HTTPServer

/// The passwords that wait to be checked, one at a time, because a check takes up to a tenth of a second.
///
/// An address with many attempts, or an IPv6 network, loses its own oldest one, so that the attempts of others are checked.
struct LoginQueue<Check> {
    /// The most checks that wait.
    static var mostChecks: Int { 8 }

    private var checks: [UInt64: (check: Check, network: String)] = [:]
    private var shares = FairShares<String, UInt64>(total: Self.mostChecks)
    private var last: UInt64 = 0
    private var isChecking = false

    /// Adds a check of an address.
    ///
    /// - Returns: the check that made room, and will not be made.
    mutating func add(_ check: Check, of address: String) -> Check? {
        last += 1
        let network = PeerAddress.network(of: address)
        checks[last] = (check, network)
        return shares.add(last, of: network).flatMap { checks.removeValue(forKey: $0)?.check }
    }

    /// Returns the check to begin; nil while another one is being made, and if there is none.
    mutating func begin() -> Check? {
        guard !isChecking, let next = shares.takeOldest() else { return nil }
        isChecking = true
        return checks.removeValue(forKey: next)?.check
    }

    /// Handles the end of a check.
    mutating func ended() {
        isChecking = false
    }
}
