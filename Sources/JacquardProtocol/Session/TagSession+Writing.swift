public import Time

extension TagSession {
    /// Handles the confirmation of a write.
    public mutating func written(at now: Instant) -> [Action] {
        guard link.fragments.isWriting else { return [] }
        if let fragment = link.fragments.written(nextConfirmedBy: now + timing.write) { return [write(fragment)] }
        return sendNext(at: now)
    }

    /// Handles a failed write.
    ///
    /// - Parameters:
    ///   - error: the error with the stack's name and text.
    ///   - isNotPermitted: whether it is ATT error 3, which tags return that permit only writes without response.
    ///   - isUnsent: whether the stack was too busy to send the value.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func writeFailed(
        _ error: TagConnectionError, isNotPermitted: Bool, isUnsent: Bool = false, at now: Instant
    ) -> [Action] {
        guard link.fragments.isWriting else { return [] }
        // A tag ignores an incomplete packet. After a confirmed fragment, it is unknown whether the tag got the
        // rest.
        let isUnsent = isUnsent && !link.fragments.isPartlySent
        link.fragments = FragmentQueue()
        // No request in flight: it was answered or has timed out, so the failure has no effect.
        guard let purpose = link.requests.inFlight?.purpose else { return sendNext(at: now) }
        if isNotPermitted, link.writesWithResponse, purpose.opensProtocol { return repeatHello(at: now) }
        guard isConnected else { return fail(error, at: now) }
        _ = link.requests.removeInFlight()
        let name = error.stackName ?? ""
        let failure: TagCommandError =
            isUnsent ? .busy(name: name, text: error.text) : .writeFailed(name: name, text: error.text)
        return failed(purpose, failure, at: now) + sendNext(at: now)
    }

    /// Sends the next request if no request is in flight and no write is pending.
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
    /// The properties of the command characteristic.
    public struct Properties: OptionSet, Hashable, Sendable {
        /// The bits. They are not those of the Bluetooth specification.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Write with response.
        public static let write = Properties(rawValue: 1)
        /// Write without response. Firmware below 1.43.0 permits nothing else.
        public static let writeWithoutResponse = Properties(rawValue: 2)
    }
}
