public import Bluetooth
public import Time

/// Decides which radio connects which device, and when.
///
/// Each method takes an event; ``steps(at:)`` returns the actions to perform. Radios are numbered from 0.
///
/// 1. A radio without a bond is not a candidate for a device that needs one.
/// 2. The best candidate has the highest score: the smoothed signal strength, more for the last radio, less for each of the
///    radio's links and for each failure of the last minute. A radio without a free link is not a candidate.
/// 3. After the first advertisement, the other radios have a moment to receive the device, too. If the best radio fails, the
///    next one tries at once.
/// 4. A link stays until it ends.
/// 5. A radio that is lost is not a candidate. Its devices are looked for by the others.
/// 6. A device that a radio receives at full strength while another one claims the link has no link.
public struct RadioChoice {
    /// An action to perform.
    public enum Step: Hashable, Sendable {
        /// Connect the device with a radio.
        case connect(BluetoothAddress, Int)
        /// Cancel the attempt of a radio, or drop its link. The radio reports `disconnected`.
        case release(BluetoothAddress, Int)
        /// No radio is left to try, or the request was withdrawn: report the end of the request.
        case end(BluetoothAddress, BluetoothError?)
        /// Only these radios receive the device, and none has a bond. Empty: that is over.
        case noBond(BluetoothAddress, receivedBy: [Int])
    }

    /// The meaning of the end of a link or an attempt.
    public enum Outcome: Hashable, Sendable {
        /// Another attempt may follow.
        case goesOn
        /// The request has ended, with this error. Report it now.
        case ended(BluetoothError?)
    }

    struct Radio {
        var isUsable = false
        /// The number of links that it can have in all; nil if unknown.
        var capacity: Int?
        /// The number of links.
        var links = 0
        /// The number of links, attempts and links that are being dropped.
        var occupied = 0
        /// The number of devices that it is connecting.
        var attempts = 0
    }

    /// How long the other radios may take to receive a device, too.
    public static let wait = Duration.milliseconds(200)
    /// How long to wait for the best radio while it connects another device.
    public static let busyWait = Duration.seconds(2)
    /// How long an attempt may take while another radio receives the device.
    public static let attempt = Duration.seconds(5)
    /// How long a reception counts.
    public static let memory = Duration.seconds(10)
    /// How long no radio receives a device before it is tried without an advertisement, because some controllers don't
    /// report devices of their own accept list.
    public static let unheard = Duration.seconds(15)
    /// How long only radios without a bond receive a device before that is reported.
    public static let missingBond = Duration.seconds(5)
    /// How long after the end of a request it may be repeated, so that the report stays.
    public static let repetition = Duration.seconds(2)
    /// How long after the beginning of a link an advertisement can be a late report.
    public static let lateReport = Duration.seconds(2)
    /// The interval of two advertisements that show that a link is dead.
    public static let deadInterval = Duration.milliseconds(500)
    /// Signal strength of a device that is near, in dBm. Weaker advertisements don't show that a link is dead.
    public static let fullStrength = -75
    /// The bonus of the last radio, in dB.
    static let lastRadioBonus = 6.0
    /// The penalty of each link, in dB.
    static let linkPenalty = 2.0
    /// The largest penalty, in dB. With the bonus, it is less than the 20 dB that always win.
    static let mostPenalty = 13.0
    /// Signal strength of a device without a value, in dBm.
    static let unknownStrength = -70.0
    /// Upper bound on devices that are not to be connected.
    static let mostTags = 1000

    var radios: [Radio]
    private(set) var tags: [BluetoothAddress: TagByRadios] = [:]
    /// The devices that wait for a radio, or for the end of an attempt.
    var active: Set<BluetoothAddress> = []
    private var pending: [Step] = []
    /// When the report of a missing bond ends, by device, unless the request is repeated before that. The caller repeats a request
    /// at the end of its time limit.
    private(set) var ending: [BluetoothAddress: Instant] = [:]

    /// Creates a choice among radios, none of which is usable yet.
    public init(radios count: Int) {
        radios = Array(repeating: Radio(), count: count)
    }

    // MARK: Radios

    /// A radio can be used from now on, or was lost. The ends of its links and attempts are reported separately.
    public mutating func setUsable(_ isUsable: Bool, _ radio: Int) {
        radios[radio].isUsable = isUsable
        guard !isUsable else { return }
        for address in tags.keys { tags[address]?.receptions[radio] = nil }
    }

    /// A radio can have this number of links; nil if unknown. One with a known number is not asked to connect a device that was
    /// not received: it waits for an advertisement itself, and the request would count as a link.
    public mutating func setCapacity(_ capacity: Int?, of radio: Int) {
        radios[radio].capacity = capacity
    }

    /// A radio has bonds with these devices, and no others.
    public mutating func setBonds(_ bonded: Set<BluetoothAddress>, of radio: Int) {
        for (address, tag) in tags where tag.bonds.contains(radio) && !bonded.contains(address) {
            tags[address]?.bonds.remove(radio)
            tags[address]?.refusedBonds.remove(radio)
        }
        for address in bonded { tags[address, default: TagByRadios()].bonds.insert(radio) }
    }

    // MARK: Devices

    /// A device needs a bond, even if no radio has reported one: the bond may be that of a radio that is away.
    public mutating func requireBond(with address: BluetoothAddress) {
        tags[address, default: TagByRadios()].isBondRequired = true
    }

    /// A pairing has begun: any radio is a candidate, or only the given one.
    public mutating func beginPairing(_ address: BluetoothAddress, with radio: Int?) {
        tags[address, default: TagByRadios()].pairing = TagByRadios.Pairing(radio: radio)
    }

    /// Only this radio is a candidate, to check whether the device accepts its bond: drops the link or the attempt of any radio.
    public mutating func beginCheck(_ address: BluetoothAddress, with radio: Int) {
        var tag = tags[address, default: TagByRadios()]
        tag.pairing = TagByRadios.Pairing(radio: radio, isCheck: true)
        switch tag.phase {
        case .linked(let linked, _): release(address, &tag, linked, .forCheck)
        case .attempting(let trying, _, _) where trying != radio: release(address, &tag, trying, .forOther)
        case .idle, .waiting, .attempting, .releasing: break
        }
        store(tag, address)
    }

    /// A pairing or a check has ended. The device accepts the bond with this radio; nil if the pairing has failed.
    public mutating func endPairing(_ address: BluetoothAddress, bondedBy radio: Int?) {
        tags[address]?.pairing = nil
        if let radio { tags[address]?.refusedBonds.remove(radio) }
    }

    /// A radio has received a device.
    ///
    /// - Parameters:
    ///   - address: the device.
    ///   - rssi: its signal strength; nil if unknown.
    ///   - radio: the radio.
    ///   - isConnected: whether this is no advertisement, but a link that another program has made with this radio.
    ///   - now: the current time.
    public mutating func received(
        _ address: BluetoothAddress, rssi: Int?, by radio: Int, isConnected: Bool = false, at now: Instant
    ) {
        if tags[address] == nil { makeRoom() }
        var tag = tags[address, default: TagByRadios()]
        defer { store(tag, address) }
        let isFirst = !radios.indices.contains { tag.isReceived(by: $0, at: now) }
        tag.record(rssi.map(Double.init) ?? Self.unknownStrength, by: radio, at: now)
        switch tag.phase {
        case .waiting:
            if isFirst || tag.firstReceived == nil { tag.firstReceived = now }
        case .attempting(let trying, _, isUnheard: true):
            // Received at last: the rules decide, and not the radio that happened to try.
            tag.firstReceived = now
            release(address, &tag, trying, .forOther)
        case .linked(let other, let since) where other != radio && !isConnected:
            tag.receptions[radio]?.isFresh = false
            noteDeadLink(address, &tag, of: other, since: since, rssi, at: now)
        case .idle, .attempting, .releasing, .linked: break
        }
    }

    private mutating func noteDeadLink(
        _ address: BluetoothAddress, _ tag: inout TagByRadios, of radio: Int, since: Instant, _ rssi: Int?,
        at now: Instant
    ) {
        guard let rssi, rssi >= Self.fullStrength, now - since > Self.lateReport else { return }
        guard let first = tag.deadSince, now - first < Self.memory else { return tag.deadSince = now }
        if now - first >= Self.deadInterval { release(address, &tag, radio, .isDead) }
    }

    /// Connect a device as soon as a radio receives it.
    public mutating func connect(_ address: BluetoothAddress, at now: Instant) {
        guard tags[address, default: TagByRadios()].isIdle else { return }
        tags[address, default: TagByRadios()].begin(at: now)
        ending[address] = nil
        active.insert(address)
    }

    /// Drop the link with a device, or the attempt to make one.
    public mutating func disconnect(_ address: BluetoothAddress, at now: Instant) {
        guard var tag = tags[address] else { return }
        switch tag.phase {
        case .idle: return
        case .waiting:
            end(address, &tag, at: now)
            pending.append(.end(address, nil))
        case .attempting(let radio, _, _), .linked(let radio, _): release(address, &tag, radio, .requested)
        case .releasing(let radio, _): tag.phase = .releasing(radio: radio, .requested)
        }
        store(tag, address)
    }

    /// Whether ``steps(at:)`` may have something for a device, after it was received.
    public func isConcerned(by address: BluetoothAddress) -> Bool { active.contains(address) || !pending.isEmpty }

    /// Drops a link that another radio is to pair; its end is reported with an error, so that it is made again.
    ///
    /// - Returns: false if the radio with the link is to be paired.
    public mutating func leaveForPairing(_ address: BluetoothAddress) -> Bool {
        guard var tag = tags[address], let wanted = tag.pairing?.radio, case .linked(let radio, _) = tag.phase,
            radio != wanted
        else { return false }
        release(address, &tag, radio, .forPairing)
        store(tag, address)
        return true
    }

    /// A device was removed from all radios.
    public mutating func forget(_ address: BluetoothAddress) {
        guard var tag = tags[address] else { return }
        (tag.bonds, tag.refusedBonds, tag.isBondRequired, tag.lastRadio) = ([], [], false, nil)
        if ending.removeValue(forKey: address) != nil { endMissingBond(address, &tag) }
        tags[address] = tag.isIdle ? nil : tag
    }

    // MARK: Results

    /// A radio has a link with a device.
    ///
    /// - Returns: whether the link was requested. Otherwise it is being dropped.
    public mutating func connected(_ address: BluetoothAddress, by radio: Int, at now: Instant) -> Bool {
        guard var tag = tags[address] else { return false }
        defer { store(tag, address) }
        guard case .attempting(radio, _, _) = tag.phase else {
            // Otherwise the radio drops it already.
            if tag.radio != radio { pending.append(.release(address, radio)) }
            return false
        }
        tag.linked(by: radio, at: now)
        active.remove(address)
        endMissingBond(address, &tag)
        return true
    }

    /// A link or an attempt has ended.
    ///
    /// - Parameters:
    ///   - address: the device.
    ///   - radio: the radio.
    ///   - error: the cause; nil if it was requested.
    ///   - isRadioLost: whether the radio is the cause, and not the device.
    ///   - now: the current time.
    /// - Returns: whether this is the end of the request.
    public mutating func disconnected(
        _ address: BluetoothAddress, by radio: Int, _ error: BluetoothError?, isRadioLost: Bool = false,
        at now: Instant
    ) -> Outcome {
        guard var tag = tags[address], tag.radio == radio else { return .goesOn }
        defer { store(tag, address) }
        var error = error
        if let cause = error, Self.refusesBond(cause, &tag, radio), tag.pairing?.isCheck == true {
            error = BluetoothError(.connectionFailed, name: BluetoothError.bondRefusedName, text: cause.text)
        }
        switch tag.phase {
        case .attempting(_, _, let isUnheard):
            tag.phase = .waiting
            guard !isRadioLost else { return .goesOn }
            tag.lastError = error.map { Self.curable($0, tag) }
            tag.failed(by: radio, at: now)
            if isUnheard { tag.requestedAt = now }
            return .goesOn
        case .releasing(_, .forOther):
            tag.phase = .waiting
            return .goesOn
        case .idle, .waiting: return .goesOn
        case .releasing(_, .isDead):
            end(address, &tag, at: now)
            return .ended(BluetoothError(.connectionFailed, text: "the link is dead: another radio receives the tag"))
        case .releasing(_, .forPairing):
            end(address, &tag, at: now)
            return .ended(.otherRadio("another radio is to be paired"))
        case .releasing(_, .forCheck):
            end(address, &tag, at: now)
            return .ended(.otherRadio("the bond of a radio is being checked"))
        case .releasing(_, .requested), .linked:
            end(address, &tag, at: now)
            return .ended(error.map { Self.curable($0, tag) })
        }
    }

    /// A device has refused an access over the link of a radio.
    ///
    /// - Returns: the error to report.
    public mutating func refused(_ address: BluetoothAddress, by radio: Int, _ error: BluetoothError) -> BluetoothError
    {
        guard var tag = tags[address], tag.radio == radio else { return error }
        if Self.refusesBond(error, &tag, radio) { store(tag, address) }
        return Self.curable(error, tag)
    }

    /// A device has accepted an access over the link of a radio, and with it the radio's bond.
    ///
    /// - Returns: whether it had refused that bond before.
    public mutating func accepted(_ address: BluetoothAddress, by radio: Int) -> Bool {
        guard let tag = tags[address], tag.radio == radio, tag.pairing?.isCheck ?? true else { return false }
        return tags[address]?.refusedBonds.remove(radio) != nil
    }

    /// Notes a radio whose bond the device does not accept.
    private static func refusesBond(_ error: BluetoothError, _ tag: inout TagByRadios, _ radio: Int) -> Bool {
        guard error.code == .authenticationFailed, tag.pairing?.isCheck ?? true, tag.bonds.contains(radio) else {
            return false
        }
        tag.refusedBonds.insert(radio)
        return true
    }

    /// The radios whose bond a device does not accept any more.
    public func refusedBonds(of address: BluetoothAddress) -> Set<Int> { tags[address]?.refusedBonds ?? [] }

    /// An error without a refused bond, if another radio has one: only the radio is no candidate any more.
    private static func curable(_ error: BluetoothError, _ tag: TagByRadios) -> BluetoothError {
        let hasBond = !tag.bonds.subtracting(tag.refusedBonds).isEmpty
        guard error.code == .authenticationFailed, hasBond else { return error }
        return BluetoothError(.connectionFailed, name: error.name, text: error.text, end: error.end)
    }

    private mutating func release(
        _ address: BluetoothAddress, _ tag: inout TagByRadios, _ radio: Int, _ reason: TagByRadios.Release
    ) {
        tag.phase = .releasing(radio: radio, reason)
        pending.append(.release(address, radio))
    }

    private mutating func end(_ address: BluetoothAddress, _ tag: inout TagByRadios, at now: Instant) {
        tag.phase = .idle
        active.remove(address)
        tag.receivedBefore.formUnion(tag.receptions.keys)
        tag.firstReceived = nil
        guard tag.withoutBondSince != nil else { return }
        if usableRadios.contains(where: { tag.isReceived(by: $0, at: now) }) {
            ending[address] = now + Self.repetition
        } else {
            endMissingBond(address, &tag)
        }
    }

    private mutating func endMissingBond(_ address: BluetoothAddress, _ tag: inout TagByRadios) {
        tag.withoutBondSince = nil
        guard tag.isMissingBondReported else { return }
        tag.isMissingBondReported = false
        pending.append(.noBond(address, receivedBy: []))
    }

    /// Removes the devices that were silent longest, if there are too many that are of no use. Several at once: there may be a new
    /// device in each advertisement.
    private mutating func makeRoom() {
        guard tags.count >= Self.mostTags else { return }
        var removable: [(address: BluetoothAddress, last: Instant)] = []
        for (address, tag) in tags
        where tag.isIdle && tag.bonds.isEmpty && !tag.isBondRequired && ending[address] == nil {
            var last = Instant(sinceBoot: .zero)
            for reception in tag.receptions.values { last = max(last, reception.last) }
            removable.append((address, last))
        }
        removable.sort { $0.last < $1.last }
        for (address, _) in removable.prefix(Self.mostTags / 10) { tags[address] = nil }
    }

    // MARK: Steps

    /// Returns the actions to perform now, in order. Call it after each event and at ``deadline(at:)``.
    public mutating func steps(at now: Instant) -> [Step] {
        // Devices that were received first come first.
        let order = active.sorted { one, other in
            let (first, second) = (tags[one]?.firstReceived, tags[other]?.firstReceived)
            guard first != second else { return one.description < other.description }
            guard let first else { return false }
            return second.map { first < $0 } ?? true
        }
        for address in order {
            guard var tag = tags[address] else { continue }
            advance(address, &tag, at: now)
            store(tag, address)
        }
        endReports(at: now)
        defer { pending = [] }
        return pending
    }

    /// Ends the reports whose request was not repeated.
    private mutating func endReports(at now: Instant) {
        for address in ending.filter({ $0.value <= now }).keys.sorted(by: { $0.description < $1.description }) {
            ending[address] = nil
            guard var tag = tags[address] else { continue }
            endMissingBond(address, &tag)
            store(tag, address)
        }
    }

    /// Returns the actions to perform now because a device was received. Those of other devices may be due later.
    public mutating func steps(for address: BluetoothAddress, at now: Instant) -> [Step] {
        if active.contains(address), var tag = tags[address] {
            advance(address, &tag, at: now)
            store(tag, address)
        }
        defer { pending = [] }
        return pending
    }

    /// Stores a device, and counts what its radio does with it.
    private mutating func store(_ tag: TagByRadios, _ address: BluetoothAddress) {
        if let old = tags[address] { count(old, -1) }
        count(tag, 1)
        tags[address] = tag
    }

    private mutating func count(_ tag: TagByRadios, _ step: Int) {
        guard let radio = tag.radio else { return }
        radios[radio].occupied += step
        if case .linked = tag.phase { radios[radio].links += step }
        if tag.isAttempted(by: radio) { radios[radio].attempts += step }
    }

    private mutating func advance(_ address: BluetoothAddress, _ tag: inout TagByRadios, at now: Instant) {
        switch tag.phase {
        case .waiting: break
        case .attempting(let radio, let since, isUnheard: false) where now - since >= Self.attempt:
            guard hasOther(than: radio, for: tag, at: now) else { return }
            // A radio that has failed earlier may try again.
            tag.failed = []
            tag.failed(by: radio, at: now)
            tag.lastError = BluetoothError(.timeout, text: "no link in time, and another radio receives the device")
            return release(address, &tag, radio, .forOther)
        case .idle, .attempting, .releasing, .linked: return
        }
        updateMissingBond(address, &tag, at: now)
        switch decision(for: tag, at: now) {
        case .connect(let radio, let isUnheard):
            tag.phase = .attempting(radio: radio, since: now, isUnheard: isUnheard)
            pending.append(.connect(address, radio))
        case .end:
            let error = tag.lastError
            end(address, &tag, at: now)
            pending.append(.end(address, error))
        case .wait: break
        }
    }

    private mutating func updateMissingBond(_ address: BluetoothAddress, _ tag: inout TagByRadios, at now: Instant) {
        let receiving = usableRadios.filter { tag.isReceived(by: $0, at: now) }
        // Between two advertisements of a device that is far away, nothing is known.
        guard !receiving.isEmpty else { return }
        guard tag.needsBond, !receiving.contains(where: tag.isPermitted) else { return endMissingBond(address, &tag) }
        let since = tag.withoutBondSince ?? now
        tag.withoutBondSince = since
        guard now - since >= Self.missingBond, !tag.isMissingBondReported else { return }
        tag.isMissingBondReported = true
        pending.append(.noBond(address, receivedBy: receiving))
    }
}

extension BluetoothError {
    fileprivate static func otherRadio(_ text: String) -> BluetoothError {
        BluetoothError(.connectionFailed, name: otherRadioName, text: text)
    }
}
