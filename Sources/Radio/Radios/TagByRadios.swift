import Bluetooth
import Time

/// One device, as the radios of a bridge receive and connect it.
struct TagByRadios {
    /// How one radio receives the device.
    struct Reception {
        /// The smoothed signal strength in dBm.
        var rssi: Double
        var last: Instant
        /// Whether the radio has reported the device since the current search began.
        var isFresh = true
    }

    /// Why a radio was requested to let go of the device.
    enum Release {
        /// Another radio is to connect it.
        case forOther
        /// The caller has requested it.
        case requested
        /// The device advertises, and so the link does not exist any more.
        case isDead
        /// Another radio is to be paired with the device.
        case forPairing
        /// The bond of a radio is to be checked.
        case forCheck
    }

    enum Phase {
        /// Not to be connected.
        case idle
        /// To be connected, by no radio yet.
        case waiting
        /// A radio connects it. `isUnheard`: no radio has received it, and the stack tries it at its own time.
        case attempting(radio: Int, since: Instant, isUnheard: Bool)
        /// A radio lets go of it. The end of that is reported.
        case releasing(radio: Int, Release)
        case linked(radio: Int, since: Instant)
    }

    var phase = Phase.idle
    /// By radio.
    var receptions: [Int: Reception] = [:]
    /// The radios that have received the device before the current search.
    var receivedBefore: Set<Int> = []
    /// The radios with a bond.
    var bonds: Set<Int> = []
    /// The radios whose bond the device does not accept any more.
    var refusedBonds: Set<Int> = []
    /// Whether the device needs a bond, even if no radio of this process has one.
    var isBondRequired = false
    /// While the device is being paired: with a given radio, or with the one that receives it best (nil).
    var pairing: Pairing?
    /// The radio of the last link.
    var lastRadio: Int?
    /// When attempts have failed, by radio.
    var failures: [Int: [Instant]] = [:]
    /// The radios that have failed since the connection was requested.
    var failed: Set<Int> = []
    /// The error of the last one.
    var lastError: BluetoothError?
    /// When the connection was requested.
    var requestedAt = Instant(sinceBoot: .zero)
    /// When the first radio received the device in this search.
    var firstReceived: Instant?
    /// When only radios without a bond began to receive the device.
    var withoutBondSince: Instant?
    /// Whether that was reported.
    var isMissingBondReported = false
    /// The last evidence that a link is dead; nil without any.
    var deadSince: Instant?

    struct Pairing: Equatable {
        var radio: Int?
        /// Whether no bond is made, and that of the radio is checked.
        var isCheck = false
    }

    /// The weight of a new value in the smoothed signal strength.
    private static let weight = 0.3

    /// Whether only a radio with a bond can connect the device.
    var needsBond: Bool { pairing == nil && (isBondRequired || !bonds.isEmpty) }

    /// The radios whose bond is used: if the device refuses all of them, the caller gets to know it from an attempt.
    var usedBonds: Set<Int> {
        let accepted = bonds.subtracting(refusedBonds)
        return accepted.isEmpty ? bonds : accepted
    }

    /// Whether a bond does not prevent a radio from connecting the device.
    func isPermitted(_ radio: Int) -> Bool {
        if let pairing { return pairing.radio == nil || pairing.radio == radio }
        return !needsBond || usedBonds.contains(radio)
    }

    /// Whether no radio has been asked to do anything with the device.
    var isIdle: Bool { if case .idle = phase { true } else { false } }

    /// Whether the device waits for a radio.
    var isWaiting: Bool { if case .waiting = phase { true } else { false } }

    /// The radio that connects the device, is connected with it or lets go of it.
    var radio: Int? {
        switch phase {
        case .idle, .waiting: nil
        case .attempting(let radio, _, _), .releasing(let radio, _), .linked(let radio, _): radio
        }
    }

    /// Whether a radio is busy with an attempt for the device. An attempt for a device that was not received does not count:
    /// the stack makes it while nothing else is to be done.
    func isAttempted(by radio: Int) -> Bool {
        switch phase {
        case .attempting(radio, _, isUnheard: false), .releasing(radio, .forOther): true
        case .idle, .waiting, .attempting, .releasing, .linked: false
        }
    }

    /// Begins a search for the device.
    mutating func begin(at now: Instant) {
        phase = .waiting
        requestedAt = now
        (failed, lastError, deadSince) = ([], nil, nil)
        firstReceived = receptions.values.filter { $0.isFresh && now - $0.last < RadioChoice.memory }.map(\.last).min()
    }

    /// Handles a signal strength.
    mutating func record(_ rssi: Double, by radio: Int, at now: Instant) {
        if var known = receptions[radio], known.isFresh, now - known.last < RadioChoice.memory {
            known.rssi += Self.weight * (rssi - known.rssi)
            known.last = now
            receptions[radio] = known
        } else {
            receptions[radio] = Reception(rssi: rssi, last: now)
        }
    }

    /// Handles a link. The device does not advertise meanwhile, and may be elsewhere afterwards.
    mutating func linked(by radio: Int, at now: Instant) {
        phase = .linked(radio: radio, since: now)
        lastRadio = radio
        receivedBefore.formUnion(receptions.keys)
        for radio in receptions.keys { receptions[radio]?.isFresh = false }
        (firstReceived, withoutBondSince, deadSince, failed) = (nil, nil, nil, [])
    }

    /// Whether a radio receives the device now.
    func isReceived(by radio: Int, at now: Instant) -> Bool {
        guard let reception = receptions[radio] else { return false }
        return reception.isFresh && now - reception.last < RadioChoice.memory
    }

    /// The decibels that failed attempts of the last minute cost a radio: 10 for each, halved after 30 s.
    func failurePenalty(of radio: Int, at now: Instant) -> Double {
        (failures[radio] ?? []).reduce(0) { sum, failure in
            let age = now - failure
            return age >= .seconds(60) ? sum : sum + (age >= .seconds(30) ? 5 : 10)
        }
    }

    /// Notes a failed attempt.
    mutating func failed(by radio: Int, at now: Instant) {
        failures[radio] = (failures[radio] ?? []).filter { now - $0 < .seconds(60) } + [now]
        failed.insert(radio)
    }
}
