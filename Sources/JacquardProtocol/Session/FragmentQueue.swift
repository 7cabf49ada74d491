import Time

/// The fragments of the packet being sent, one write at a time.
///
/// bluetoothd rejects a write to a characteristic while an earlier write is unconfirmed.
struct FragmentQueue: Sendable {
    private var fragments: ArraySlice<[UInt8]> = []
    /// When the pending write must be confirmed; nil if there is none.
    private(set) var deadline: Instant?

    /// Whether a fragment of the current packet was confirmed.
    private(set) var isPartlySent = false

    /// Whether a write is pending.
    var isWriting: Bool { deadline != nil }

    /// Splits a new packet and returns its first fragment. Call it only while no write is pending.
    ///
    /// - Parameters:
    ///   - packet: 1 to 1,024 bytes.
    ///   - maximumLength: the maximum length of a fragment on this link, in bytes.
    ///   - deadline: when the write must be confirmed.
    /// - Returns: the fragment to write; nil if the packet's length is out of range.
    mutating func send(
        _ packet: [UInt8], maximumLength: Int = Fragment.maximumLength, confirmedBy deadline: Instant
    ) -> [UInt8]? {
        fragments = (try? Fragmenter.fragments(of: packet, maximumLength: maximumLength))?[...] ?? []
        isPartlySent = false
        return advance(to: deadline)
    }

    /// Handles the confirmation of a write and returns the next fragment.
    mutating func written(nextConfirmedBy deadline: Instant) -> [UInt8]? {
        isPartlySent = true
        return advance(to: deadline)
    }

    /// Discards the fragments that are not written yet. A pending write still waits for its confirmation.
    mutating func abandon() {
        fragments = []
    }

    private mutating func advance(to deadline: Instant) -> [UInt8]? {
        let fragment = fragments.popFirst()
        self.deadline = fragment == nil ? nil : deadline
        return fragment
    }
}
