public import Bluetooth
public import Time

/// The score of radios, and the decision for one device.
extension RadioChoice {
    /// How one radio receives a device.
    public struct Reception: Hashable, Sendable {
        /// The number of the radio.
        public var radio: Int
        /// The smoothed signal strength in dBm; nil if the radio has not received the device.
        public var rssi: Int?
        /// When the radio received the device last.
        public var last: Instant?
        /// Whether the radio has a bond that the device accepts, as far as known.
        public var isBonded: Bool
    }

    enum Decision: Equatable {
        case wait
        case connect(Int, isUnheard: Bool)
        /// All candidates have failed.
        case end
    }

    /// How each radio receives a device, and which ones have a bond.
    public func receptions(of address: BluetoothAddress) -> [Reception] {
        guard let tag = tags[address] else { return [] }
        return radios.indices.compactMap { radio in
            let reception = tag.receptions[radio]
            let isBonded = tag.bonds.contains(radio) && !tag.refusedBonds.contains(radio)
            guard reception != nil || isBonded else { return nil }
            return Reception(
                radio: radio, rssi: reception.map { Int($0.rssi.rounded()) }, last: reception?.last, isBonded: isBonded)
        }
    }

    /// The radio that receives a device best now; nil if none does.
    public func bestReceiver(of address: BluetoothAddress, at now: Instant) -> Int? {
        guard let tag = tags[address] else { return nil }
        return usableRadios.filter { radio in tag.receptions[radio].map { now - $0.last < Self.memory } ?? false }
            .max { (tag.receptions[$0]?.rssi ?? -128) < (tag.receptions[$1]?.rssi ?? -128) }
    }

    /// The radio that has the link with a device, or makes it; nil if there is none.
    public func radio(of address: BluetoothAddress) -> Int? { tags[address]?.radio }

    /// The radio that has the link with a device; nil without a link.
    public func linkedRadio(of address: BluetoothAddress) -> Int? {
        if case .linked(let radio, _)? = tags[address]?.phase { radio } else { nil }
    }

    /// Whether a device has a bond with another radio, which the device accepts as far as known.
    public func hasBond(_ address: BluetoothAddress, besides radio: Int) -> Bool {
        guard let tag = tags[address] else { return false }
        return tag.bonds.subtracting(tag.refusedBonds).contains { $0 != radio }
    }

    /// The number of links of a radio.
    public func linkCount(of radio: Int) -> Int { radios[radio].links }

    /// The number of devices that have a bond with a radio.
    public func bondCount(of radio: Int) -> Int { tags.values.count { $0.bonds.contains(radio) } }

    /// The number of links that a radio can have in addition; nil if unknown.
    public func freeLinks(of radio: Int) -> Int? {
        radios[radio].capacity.map { max(0, $0 - radios[radio].occupied) }
    }

    var usableRadios: [Int] { radios.indices.filter { radios[$0].isUsable } }

    /// Whether a radio is connecting a device.
    func isBusy(_ radio: Int) -> Bool { radios[radio].attempts > 0 }

    func score(of radio: Int, for tag: TagByRadios, at now: Instant) -> Double {
        let penalty = Self.linkPenalty * Double(linkCount(of: radio)) + tag.failurePenalty(of: radio, at: now)
        let bonus = tag.lastRadio == radio ? Self.lastRadioBonus : 0
        return (tag.receptions[radio]?.rssi ?? Self.unknownStrength) + bonus - min(penalty, Self.mostPenalty)
    }

    /// The radios that receive a device and can connect it, the best first.
    func candidates(for tag: TagByRadios, at now: Instant) -> [Int] {
        let candidates = usableRadios.filter { radio in
            tag.isReceived(by: radio, at: now) && tag.isPermitted(radio) && !tag.failed.contains(radio)
                && freeLinks(of: radio) != 0
        }
        guard candidates.count > 1 else { return candidates }
        let rated: [(radio: Int, score: Double)] = candidates.map { ($0, score(of: $0, for: tag, at: now)) }
        // Equal scores: the radio that is listed first.
        return rated.sorted { (better: (radio: Int, score: Double), other: (radio: Int, score: Double)) -> Bool in
            better.score == other.score ? better.radio < other.radio : better.score > other.score
        }.map(\.radio)
    }

    /// Whether another radio could connect a device now, even if it has failed before.
    func hasOther(than radio: Int, for tag: TagByRadios, at now: Instant) -> Bool {
        var tag = tag
        tag.failed = []
        return candidates(for: tag, at: now).contains { $0 != radio && !isBusy($0) }
    }

    func decision(for tag: TagByRadios, at now: Instant) -> Decision {
        let candidates = candidates(for: tag, at: now)
        guard let best = candidates.first, let first = tag.firstReceived else {
            if tag.lastError != nil { return .end }
            guard now >= tag.requestedAt + Self.unheard, let radio = radioForUnheard(tag, at: now) else { return .wait }
            return .connect(radio, isUnheard: true)
        }
        guard now >= waitEnd(of: tag, after: first, at: now) else { return .wait }
        if !isBusy(best) { return .connect(best, isUnheard: false) }
        guard now >= busyEnd(of: tag, after: first), let free = candidates.first(where: { !isBusy($0) }) else {
            return .wait
        }
        return .connect(free, isUnheard: false)
    }

    /// When the other radios have had their moment: it is over if all of them receive the device, if only one has ever
    /// received it, or after a failure.
    private func waitEnd(of tag: TagByRadios, after first: Instant, at now: Instant) -> Instant {
        let others = usableRadios.filter { tag.isPermitted($0) && freeLinks(of: $0) != 0 }
        let isKnownToOne = tag.receivedBefore.count == 1 && tag.receivedBefore == Set(tag.receptions.keys)
        let isComplete = others.allSatisfy { tag.isReceived(by: $0, at: now) }
        return isKnownToOne || isComplete || !tag.failed.isEmpty ? first : first + Self.wait
    }

    private func busyEnd(of tag: TagByRadios, after first: Instant) -> Instant {
        tag.failed.isEmpty ? first + Self.wait + Self.busyWait : first
    }

    /// The radio that tries a device without an advertisement: the one with the fewest failures, preferably the last one.
    private func radioForUnheard(_ tag: TagByRadios, at now: Instant) -> Int? {
        guard !radios.indices.contains(where: { tag.isReceived(by: $0, at: now) }) else { return nil }
        let permitted = usableRadios.filter {
            tag.isPermitted($0) && radios[$0].capacity == nil
                && (tag.bonds.contains($0) || tag.receivedBefore.contains($0))
        }
        func rank(_ radio: Int) -> (Double, Int) {
            (tag.failurePenalty(of: radio, at: now), tag.lastRadio == radio ? 0 : 1)
        }
        return permitted.min { rank($0) < rank($1) }
    }

    /// When ``steps(at:)`` has to be called at the latest; nil if only an event can change anything.
    public func deadline(at now: Instant) -> Instant? {
        var deadline: Instant?
        for address in active { deadline.lower(to: self.deadline(of: address, at: now)) }
        deadline.lower(to: ending.values.min())
        return deadline
    }

    /// When ``steps(at:)`` has to be called for one device.
    public func deadline(of address: BluetoothAddress, at now: Instant) -> Instant? {
        guard let tag = tags[address] else { return nil }
        var deadline: Instant?
        func add(_ due: Instant) {
            if due > now { deadline.lower(to: due) }
        }
        switch tag.phase {
        case .waiting:
            if let first = tag.firstReceived {
                add(waitEnd(of: tag, after: first, at: now))
                add(busyEnd(of: tag, after: first))
            }
            if let since = tag.withoutBondSince, !tag.isMissingBondReported {
                add(max(since + Self.missingBond, now + .milliseconds(100)))
            }
            let silentFrom = tag.receptions.values.map { $0.last + Self.memory }.max() ?? now
            add(max(tag.requestedAt + Self.unheard, silentFrom))
        case .attempting(_, let since, isUnheard: false): add(since + Self.attempt)
        case .idle:
            if let end = ending[address] { add(end) }
        case .attempting, .releasing, .linked: break
        }
        return deadline
    }
}
