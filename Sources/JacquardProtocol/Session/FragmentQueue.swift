import Time

/// The fragments of the packet that is being sent, one write at a time: bluetoothd refuses a second write of a
/// characteristic while one waits for its confirmation.
struct FragmentQueue: Sendable {
    private var fragments: ArraySlice<[UInt8]> = []
    /// When the write that is under way has to be confirmed; nil while there is none.
    private(set) var deadline: Instant?

    /// Whether a fragment of the packet that is being sent was confirmed.
    private(set) var isPartlySent = false

    /// Whether a write has not been confirmed yet.
    var isWriting: Bool { deadline != nil }

    /// Takes the fragments of a new packet, while no write is under way, and gives the first to be written.
    ///
    /// - Parameters:
    ///   - packet: 1 to 1,024 bytes.
    ///   - maximumLength: bytes that a fragment may have on this link.
    ///   - deadline: when the write has to be confirmed.
    /// - Returns: nil if the packet is not that long.
    mutating func send(
        _ packet: [UInt8], maximumLength: Int = Fragment.maximumLength, confirmedBy deadline: Instant
    ) -> [UInt8]? {
        fragments = (try? Fragmenter.fragments(of: packet, maximumLength: maximumLength))?[...] ?? []
        isPartlySent = false
        return advance(to: deadline)
    }

    /// The write was confirmed: gives the next fragment.
    mutating func written(nextConfirmedBy deadline: Instant) -> [UInt8]? {
        isPartlySent = true
        return advance(to: deadline)
    }

    /// Forgets what has not been written: the packet has failed. A write that is under way still ends by itself.
    mutating func abandon() {
        fragments = []
    }

    private mutating func advance(to deadline: Instant) -> [UInt8]? {
        let fragment = fragments.popFirst()
        self.deadline = fragment == nil ? nil : deadline
        return fragment
    }
}
