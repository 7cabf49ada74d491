import JSON
import JacquardProtocol
import Text
import Time

/// The pairings in progress, the state of the latest one, and the serial for the next one.
struct PairingProgress: Sendable {
    /// The state of a pairing; the raw value is published in `G/pairing`.
    enum State: String, Sendable, CaseIterable {
        case idle, searching, found, pairing, connecting, paired, failed
    }

    /// An event of a pairing.
    enum Event: Sendable {
        /// The serial of the next request was set or cleared.
        case requestSerial(String?)
        /// The driver pairs a tag.
        case began(TagEntry, TagHandle)
        /// A pairing has reached a stage.
        case reached(PairingStage, serial: String)
        /// The tag is bonded.
        case succeeded(TagEntry, address: String)
        /// A pairing has failed.
        case failed(TagEntry, CommandFailure)
        /// The user has ended a pairing.
        case cancelled(TagEntry)
        /// A request was refused before it began.
        case refused(CommandFailure, serial: String?)
        /// The bridge stops.
        case stopped
    }

    /// The serial of a request to pair that does not contain one; set by `request/pair_serial`.
    private(set) var requestSerial: String?
    private(set) var state = State.idle
    private(set) var serial: String?
    private(set) var address: String?
    private(set) var failure: CommandFailure?
    private(set) var time: Timestamp?
    /// A received serial that a person can mistake for the one that is searched for.
    private var similarSerial: String?
    /// The tags that are being paired, by their serials.
    private var active: [String: TagHandle] = [:]

    /// How long a failed pairing is shown.
    private static let memory = Duration.seconds(600)

    /// When to call ``deadlineReached(at:)``.
    var deadline: Instant? { state == .failed ? time.map { $0.instant + Self.memory } : nil }

    /// Ends the display of a failed pairing.
    ///
    /// - Returns: whether it has ended.
    mutating func deadlineReached(at now: Timestamp) -> Bool {
        guard let deadline, deadline <= now.instant else { return false }
        set(.idle, serial: nil, at: now)
        address = nil
        return true
    }

    /// Whether no tag is being paired.
    var isEmpty: Bool { active.isEmpty }

    /// Returns whether a tag is being paired.
    func isPairing(_ serial: String) -> Bool { active[serial] != nil }

    /// Returns the tag with a serial that is being paired; nil if there is none.
    func tag(_ serial: String) -> TagHandle? { active[serial] }

    /// Returns the serial of a tag that is being paired; nil for any other.
    func serial(of tag: TagHandle) -> String? { active.first { $0.value == tag }?.key }

    /// Handles an event.
    ///
    /// - Returns: false if it is ignored: a stage of a tag that is not being paired, a refusal during another pairing,
    ///   or a stop while no pairing is in progress.
    mutating func handle(_ event: Event, at now: Timestamp) -> Bool {
        switch event {
        case .requestSerial(let serial): setRequestSerial(serial, at: now)
        case .began(let entry, let tag):
            active[entry.serial] = tag
            set(.searching, serial: entry.serial, at: now)
            (address, similarSerial) = (nil, nil)
        case .reached(let stage, let serial):
            guard isPairing(serial) else { return false }
            reached(stage, serial: serial, at: now)
        case .succeeded(let entry, let address):
            active[entry.serial] = nil
            set(.paired, serial: entry.serial, at: now)
            self.address = address
            // The serial is not used for another request.
            if requestSerial == entry.serial { requestSerial = nil }
        case .failed(let entry, let failure):
            active[entry.serial] = nil
            fail(failure, serial: entry.serial, at: now)
        case .cancelled(let entry):
            active[entry.serial] = nil
            guard serial == entry.serial else { break }
            set(.idle, serial: nil, at: now)
            similarSerial = nil
        case .refused(let failure, let serial):
            guard isEmpty else { return false }
            fail(failure, serial: serial, at: now)
        case .stopped:
            guard isInProgress else { return false }
            fail(.stoppedAfterSending, serial: serial, at: now)
        }
        return true
    }

    /// Handles a received tag.
    ///
    /// - Returns: whether ``hint`` has changed: a person can mistake its serial for the one that is searched for.
    mutating func received(_ other: String) -> Bool {
        guard state == .searching, similarSerial == nil, let serial, other != serial,
            !SerialLikeness.matches(to: serial, in: [other]).isEmpty
        else { return false }
        similarSerial = other
        return true
    }

    /// Whether the latest pairing is in progress.
    private var isInProgress: Bool {
        switch state {
        case .idle, .paired, .failed: false
        case .searching, .found, .pairing, .connecting: true
        }
    }

    /// Sets or clears the serial of the next request. The result of an earlier pairing is removed.
    private mutating func setRequestSerial(_ serial: String?, at now: Timestamp) {
        requestSerial = serial
        guard !isInProgress else { return }
        set(.idle, serial: nil, at: now)
        address = nil
    }

    private mutating func reached(_ stage: PairingStage, serial: String, at now: Timestamp) {
        switch stage {
        case .found(let address):
            set(.found, serial: serial, at: now)
            self.address = address
        case .pairing: set(.pairing, serial: serial, at: now)
        case .connecting: set(.connecting, serial: serial, at: now)
        }
    }

    private mutating func fail(_ failure: CommandFailure, serial: String?, at now: Timestamp) {
        set(.failed, serial: serial, at: now)
        self.failure = failure
    }

    private mutating func set(_ state: State, serial: String?, at now: Timestamp) {
        if serial != self.serial { address = nil }
        (self.state, self.serial, failure, time) = (state, serial, nil, now)
    }
}

extension PairingProgress {
    /// The user's next step.
    var hint: String? {
        switch state {
        case .searching:
            similarSerial.map { "Tag \($0) is received: did you mean it?" } ?? TagAdvice.hold
        case .failed: failure?.hint
        case .idle, .found, .pairing, .connecting, .paired: nil
        }
    }
}

/// `G/pairing`.
struct PairingDocument: JSONRecord {
    let progress: PairingProgress

    func addMembers(to object: inout JSONWriter) {
        object.add("address", progress.address)
        object.add("error", progress.failure.map { ["code": $0.code.rawValue, "text": $0.text] })
        object.add("hint", progress.hint)
        object.add("request_serial", progress.requestSerial)
        object.add("serial", progress.serial)
        object.add("state", progress.state.rawValue)
        object.add("time", progress.time)
    }
}
