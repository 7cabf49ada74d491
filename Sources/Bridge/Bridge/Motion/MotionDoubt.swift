import JacquardProtocol
import Time

/// What a lost response has left unknown of a motion sensor, until the tag reports it.
struct MotionDoubt: Sendable {
    /// When the state is read again; nil unless it is unknown.
    private(set) var due: Instant?
    /// Whether the list of sessions is read again, too.
    private(set) var areSessionsUnknown = false
    /// The pause before the state is read again; it doubles after each failure.
    private var pause = Self.firstPause
    /// The recording that may have begun.
    private var recording: (session: String, rates: MotionRates)?

    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    /// Handles a lost response.
    ///
    /// - Parameters:
    ///   - recording: the recording that may have begun; nil if none was requested.
    ///   - changesSessions: whether sessions may have been erased.
    ///   - now: the current time.
    mutating func responseLost(
        recording: (session: String, rates: MotionRates)? = nil, changesSessions: Bool = false, at now: Instant
    ) {
        self.recording = recording ?? self.recording
        areSessionsUnknown = areSessionsUnknown || changesSessions
        pause = Self.firstPause
        due = now + pause
    }

    /// Handles the end of a command that reads the state: another one follows a failure.
    mutating func checked(_ result: Result<TagCommandResponse, TagCommandError>, at now: Instant) {
        switch result {
        case .success: pause = Self.firstPause
        // The next connection reads it.
        case .failure(.linkLost), .failure(.notConnected): due = nil
        case .failure:
            pause = min(pause * 2, Self.longestPause)
            due = now + pause
        }
    }

    /// Returns whether to read the state now.
    mutating func takeDue(at now: Instant) -> Bool {
        due.takeDue(at: now)
    }

    /// Handles a complete list of sessions.
    mutating func sessionsListed() { areSessionsUnknown = false }

    /// Returns the recording that may have begun, and forgets it.
    mutating func takeRecording() -> (session: String, rates: MotionRates)? {
        defer { recording = nil }
        return recording
    }
}

/// When the end of a stream is requested again, which has failed: the tag would stream until its battery is empty.
struct MotionStreamEnd: Sendable {
    /// When it is requested again; nil if it is not.
    private(set) var due: Instant?
    /// The pause before that; nil unless it has failed.
    private var pause: Duration?

    private static let longestPause = Duration.seconds(60)

    /// Handles a stream that may have begun although its command has failed.
    mutating func mayHaveBegun(at now: Instant) { due = now }

    /// Handles the end of a request.
    mutating func ended(hasSucceeded: Bool, at now: Instant) {
        pause = hasSucceeded ? nil : min((pause ?? .seconds(1)) * 2, Self.longestPause)
        due = pause.map { now + $0 }
    }

    /// Handles elapsed time.
    ///
    /// - Parameters:
    ///   - isWanted: false if the end of the link has ended the stream, or another one is wanted.
    ///   - now: the current time.
    /// - Returns: whether to request it now.
    mutating func takeDue(isWanted: Bool, at now: Instant) -> Bool {
        guard due.takeDue(at: now) else { return false }
        if !isWanted { pause = nil }
        return isWanted
    }
}
