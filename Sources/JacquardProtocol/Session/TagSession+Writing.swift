public import Time

extension TagSession {
    /// The last write was confirmed or accepted.
    public mutating func written(at now: Instant) -> [Action] {
        guard link.fragments.isWriting else { return [] }
        if let fragment = link.fragments.written(nextConfirmedBy: now + timing.write) { return [write(fragment)] }
        return sendNext(at: now)
    }

    /// The last write was refused.
    ///
    /// - Parameters:
    ///   - error: the stack's name and words.
    ///   - isNotPermitted: ATT error 3, which a tag gives that takes writes without response only.
    ///   - isUnsent: whether the stack was too busy to send it.
    ///   - now: the time.
    /// - Returns: what to do now.
    public mutating func writeFailed(
        _ error: TagConnectionError, isNotPermitted: Bool, isUnsent: Bool = false, at now: Instant
    ) -> [Action] {
        guard link.fragments.isWriting else { return [] }
        // A tag ignores a packet of which it has only a part, but whether it got the rest is then not known.
        let isUnsent = isUnsent && !link.fragments.isPartlySent
        link.fragments = FragmentQueue()
        // Without a flight it has been answered or has timed out meanwhile, and the write does not matter any more.
        guard let purpose = link.requests.inFlight?.purpose else { return sendNext(at: now) }
        if isNotPermitted, link.writesWithResponse, purpose.opensProtocol { return repeatHello(at: now) }
        guard isConnected else { return fail(error, at: now) }
        _ = link.requests.landed()
        let name = error.stackName ?? ""
        let failure: TagCommandError =
            isUnsent ? .busy(name: name, text: error.text) : .writeFailed(name: name, text: error.text)
        return failed(purpose, failure, at: now) + sendNext(at: now)
    }

    /// Sends the next request if the last one has ended and its packet is out.
    mutating func sendNext(at now: Instant) -> [Action] {
        guard !link.fragments.isWriting, let (packet, purpose) = link.requests.next(at: now),
            let fragment = link.fragments.send(
                packet, maximumLength: link.fragmentLength, confirmedBy: now + timing.write)
        else {
            return []
        }
        return announcement(of: purpose) + [write(fragment)]
    }

    private func write(_ fragment: [UInt8]) -> Action {
        .write(fragment, withResponse: link.writesWithResponse)
    }
}

extension TagSession {
    /// What the command characteristic takes.
    public struct Properties: OptionSet, Hashable, Sendable {
        /// Bits of our own.
        public let rawValue: UInt8

        /// Takes the bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Write with response.
        public static let write = Properties(rawValue: 1)
        /// Write without response. Firmware below 1.43.0 takes nothing else.
        public static let writeWithoutResponse = Properties(rawValue: 2)
    }
}
