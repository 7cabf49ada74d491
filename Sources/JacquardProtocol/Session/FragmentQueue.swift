/// The fragments of the packet that is being sent, one write at a time: bluetoothd refuses a second write of a
/// characteristic while one waits for its confirmation.
struct FragmentQueue: Sendable {
    private var fragments: ArraySlice<[UInt8]> = []
    /// Whether a write has not been confirmed yet.
    private(set) var isWriting = false

    /// Takes the fragments of a new packet and gives the first to be written.
    mutating func send(_ packet: [UInt8]) -> [UInt8]? {
        // A request is made by us and never empty or above 1,024 bytes, which is all that could go wrong.
        fragments = (try? Fragmenter.fragments(of: packet))?[...] ?? []
        return advance()
    }

    /// The write was confirmed: gives the next fragment.
    mutating func written() -> [UInt8]? {
        isWriting = false
        return advance()
    }

    /// Forgets what has not been written: the packet has failed. A write that is under way still ends by itself.
    mutating func abandon() {
        fragments = []
    }

    private mutating func advance() -> [UInt8]? {
        guard let fragment = fragments.popFirst() else { return nil }
        isWriting = true
        return fragment
    }
}
