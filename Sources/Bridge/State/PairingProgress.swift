/// The progress of the latest pairing, and the serial for the next one.
struct PairingProgress: Sendable {
    /// The state of a pairing; the raw value is published in `G/pairing`.
    enum State: String, Sendable, CaseIterable, Encodable {
        case idle, searching, found, pairing, connecting, paired, failed
    }

    /// The serial of a request to pair that does not contain one; set by `request/pair_serial`.
    private(set) var requestSerial: String?
    private(set) var state = State.idle
    private(set) var serial: String?
    private(set) var address: String?
    private(set) var failure: CommandFailure?
    private(set) var time: Moment?

    /// Whether a pairing is in progress.
    var isActive: Bool {
        switch state {
        case .idle, .paired, .failed: false
        case .searching, .found, .pairing, .connecting: true
        }
    }

    /// Sets or clears the serial of the next request. The result of an earlier pairing is removed.
    mutating func setRequestSerial(_ serial: String?, at now: Moment) {
        requestSerial = serial
        guard !isActive else { return }
        set(.idle, serial: nil, at: now)
        address = nil
    }

    /// Starts a pairing.
    mutating func begin(_ serial: String, at now: Moment) {
        set(.searching, serial: serial, at: now)
        address = nil
    }

    /// Handles a stage of the pairing.
    mutating func reached(_ stage: PairingStage, serial: String, at now: Moment) {
        switch stage {
        case .found(let address):
            set(.found, serial: serial, at: now)
            self.address = address
        case .pairing: set(.pairing, serial: serial, at: now)
        case .connecting: set(.connecting, serial: serial, at: now)
        }
    }

    /// Completes the pairing. Its serial is not used for another request.
    mutating func succeed(_ serial: String, address: String, at now: Moment) {
        set(.paired, serial: serial, at: now)
        self.address = address
        if requestSerial == serial { requestSerial = nil }
    }

    /// Handles a pairing that failed or was refused before it began.
    mutating func fail(_ failure: CommandFailure, serial: String?, at now: Moment) {
        set(.failed, serial: serial, at: now)
        self.failure = failure
    }

    private mutating func set(_ state: State, serial: String?, at now: Moment) {
        if serial != self.serial { address = nil }
        (self.state, self.serial, failure, time) = (state, serial, nil, now)
    }
}

extension PairingProgress {
    /// What the user can do next.
    var hint: String? {
        switch state {
        case .searching: "Hold the tag's button for three seconds"
        case .failed: failure?.hint
        case .idle, .found, .pairing, .connecting, .paired: nil
        }
    }
}

/// `G/pairing`.
struct PairingDocument: Encodable {
    @OrNull var address: String?
    @OrNull var error: PairingErrorDocument?
    @OrNull var hint: String?
    @OrNull var requestSerial: String?
    @OrNull var serial: String?
    let state: PairingProgress.State
    @OrNull var time: String?

    init(_ progress: PairingProgress) {
        address = progress.address
        error = progress.failure.map { PairingErrorDocument(code: $0.code, text: $0.text) }
        hint = progress.hint
        requestSerial = progress.requestSerial
        serial = progress.serial
        state = progress.state
        time = progress.time?.text
    }

    private enum CodingKeys: String, CodingKey {
        case address, error, hint, serial, state, time
        case requestSerial = "request_serial"
    }
}

/// Why a pairing failed, in `G/pairing`.
struct PairingErrorDocument: Encodable {
    let code: CommandFailure.Code
    let text: String
}

extension BridgeState {
    /// `G/pairing`; published while discovery is on.
    var pairingFact: [Publication] {
        guard discovery != nil else { return [] }
        return [.fact(topics.pairing, PairingDocument(pairingProgress))]
    }
}
