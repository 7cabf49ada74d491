import Bluetooth
import Testing
import Time

@testable import Radios

/// A house with radios and tags: which radio receives which tag, and what becomes of attempts. Tags advertise while they have
/// no link; radios are lost and come back; attempts fail or hang.
private struct House {
    struct Radio {
        var isUsable = true
        var isSlow = false
        var capacity: Int?
        /// A slow attempt or release is in progress until then.
        var stuckUntil = Instant(sinceBoot: .zero)
    }

    struct Tag {
        var bonds: Set<Int>
        /// By radio; nil if it does not receive the tag.
        var rssi: [Int?]
        var isWanted = true
        /// The radio with the link; nil without one.
        var link: Int?
        /// An attempt: its radio, and when the radio reports a result.
        var attempt: (radio: Int, ends: Instant, succeeds: Bool)?
        /// When the radio reports the requested end.
        var release: (radio: Int, at: Instant)?
        /// Since when a radio can connect the tag and it has no link.
        var reachableSince: Instant?
    }

    var random: SplitMix
    var choice: RadioChoice
    var now = Instant(sinceBoot: .seconds(3_600))
    var radios: [Radio]
    var tags: [Tag]
    var problems: [String] = []

    init(seed: UInt64) {
        var random = SplitMix(seed: seed)
        let count = Int.random(in: 1...4, using: &random)
        radios = (0..<count).map { _ in
            Radio(capacity: Bool.random(using: &random) ? nil : Int.random(in: 1...3, using: &random))
        }
        tags = (0..<Int.random(in: 1...5, using: &random)).map { _ in
            Tag(
                bonds: Set((0..<count).filter { _ in Int.random(in: 0..<3, using: &random) > 0 }),
                rssi: Array(repeating: nil, count: count))
        }
        choice = RadioChoice(radios: count)
        self.random = random
        for (index, radio) in radios.enumerated() {
            choice.setUsable(true, index)
            choice.setCapacity(radio.capacity, of: index)
            let bonded = tags.indices.filter { tags[$0].bonds.contains(index) }
            choice.setBonds(Set(bonded.map(ChoiceBench.address)), of: index)
        }
        for index in tags.indices {
            choice.requireBond(with: ChoiceBench.address(index))
            choice.connect(ChoiceBench.address(index), at: now)
            move(index)
        }
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func move(_ index: Int) {
        for radio in radios.indices {
            tags[index].rssi[radio] = chance(30) ? nil : Int.random(in: -95 ... -35, using: &random)
        }
    }

    /// The house for some seconds, in steps of 500 ms.
    mutating func run(seconds: Int) {
        for _ in 0..<(2 * seconds) {
            now += .milliseconds(500)
            change()
            report()
            for index in tags.indices where tags[index].link == nil { advertise(index) }
            perform()
            check()
            guard problems.isEmpty else { return }
        }
    }

    private mutating func change() {
        if chance(4) { move(Int.random(in: 0..<tags.count, using: &random)) }
        if chance(4) { loseOrReturn(Int.random(in: 0..<radios.count, using: &random)) }
        if chance(4) { slowOrFast(Int.random(in: 0..<radios.count, using: &random)) }
        for index in tags.indices {
            if let radio = tags[index].link, tags[index].release == nil, tags[index].rssi[radio] == nil {
                tags[index].link = nil
                down(index, by: radio, .connectionFailed)
            }
        }
        if chance(4) {
            let index = Int.random(in: 0..<tags.count, using: &random)
            tags[index].isWanted.toggle()
            if tags[index].isWanted {
                choice.connect(ChoiceBench.address(index), at: now)
            } else {
                choice.disconnect(ChoiceBench.address(index), at: now)
            }
        }
    }

    /// At most one radio is slow.
    private mutating func slowOrFast(_ radio: Int) {
        let isAny = radios.contains { $0.isSlow || $0.stuckUntil > now }
        if radios[radio].isSlow || !isAny { radios[radio].isSlow.toggle() }
    }

    private mutating func loseOrReturn(_ radio: Int) {
        radios[radio].isUsable.toggle()
        if !radios[radio].isUsable {
            for index in tags.indices {
                let isConcerned =
                    tags[index].link == radio || tags[index].attempt?.radio == radio
                    || tags[index].release?.radio == radio
                guard isConcerned else { continue }
                if tags[index].link == radio { tags[index].link = nil }
                (tags[index].attempt, tags[index].release) = (nil, nil)
                down(index, by: radio, .connectionFailed, isRadioLost: true)
            }
        }
        choice.setUsable(radios[radio].isUsable, radio)
    }

    /// Attempts and releases whose time has come.
    private mutating func report() {
        for index in tags.indices {
            if let release = tags[index].release, release.at <= now {
                if tags[index].link == release.radio { tags[index].link = nil }
                (tags[index].release, tags[index].attempt) = (nil, nil)
                down(index, by: release.radio, nil)
            } else if let attempt = tags[index].attempt, attempt.ends <= now {
                tags[index].attempt = nil
                if attempt.succeeds, tags[index].rssi[attempt.radio] != nil {
                    if tags[index].link != nil { problems.append("two links with tag \(index)") }
                    tags[index].link = attempt.radio
                    _ = choice.connected(ChoiceBench.address(index), by: attempt.radio, at: now)
                } else {
                    down(index, by: attempt.radio, .connectionFailed)
                }
            }
        }
    }

    private mutating func down(
        _ index: Int, by radio: Int, _ code: BluetoothError.Code?, isRadioLost: Bool = false
    ) {
        let error = code.map { BluetoothError($0, text: "") }
        let outcome = choice.disconnected(
            ChoiceBench.address(index), by: radio, error, isRadioLost: isRadioLost, at: now)
        if case .ended = outcome { again(index) }
    }

    /// The caller connects again, as the session of a tag does.
    private mutating func again(_ index: Int) {
        if tags[index].isWanted { choice.connect(ChoiceBench.address(index), at: now) }
    }

    private mutating func advertise(_ index: Int) {
        for radio in radios.indices where radios[radio].isUsable {
            guard let rssi = tags[index].rssi[radio] else { continue }
            // A radio does not receive while it connects.
            guard !tags.contains(where: { $0.attempt?.radio == radio }) else { continue }
            choice.received(ChoiceBench.address(index), rssi: rssi, by: radio, at: now)
        }
    }

    private mutating func perform() {
        for step in choice.steps(at: now) {
            switch step {
            case .connect(let address, let radio): begin(index(of: address), radio)
            case .release(let address, let radio):
                let delay = radios[radio].isSlow ? Duration.seconds(1) : .milliseconds(100)
                if radios[radio].isSlow { radios[radio].stuckUntil = now + delay }
                tags[index(of: address)].release = (radio, now + delay)
            case .end(let address, _): again(index(of: address))
            case .noBond: break
            }
        }
        if let deadline = choice.deadline(at: now), deadline <= now { problems.append("a deadline in the past") }
    }

    private mutating func begin(_ index: Int, _ radio: Int) {
        if tags[index].attempt != nil || tags[index].release != nil { problems.append("two attempts for tag \(index)") }
        if tags[index].link != nil { problems.append("an attempt for the connected tag \(index)") }
        if !radios[radio].isUsable { problems.append("an attempt of the lost radio \(radio)") }
        if !tags[index].bonds.contains(radio) { problems.append("an attempt without a bond for tag \(index)") }
        if let capacity = radios[radio].capacity, tags.count(where: { $0.link == radio }) >= capacity {
            problems.append("more links than radio \(radio) has")
        }
        let isReceived = tags[index].rssi[radio] != nil
        let duration: Duration = radios[radio].isSlow ? .seconds(30) : isReceived ? .milliseconds(300) : .seconds(8)
        if duration > .seconds(1) { radios[radio].stuckUntil = now + duration }
        tags[index].attempt = (radio, now + duration, isReceived && !chance(10))
    }

    private func index(of address: BluetoothAddress) -> Int {
        tags.indices.first { ChoiceBench.address($0) == address } ?? 0
    }

    /// A tag that a fast radio with its bond, a free link and nothing else to do receives must have a link after 15 s.
    private mutating func check() {
        for index in tags.indices {
            let tag = tags[index]
            if let link = tag.link, tag.release == nil, choice.linkedRadio(of: ChoiceBench.address(index)) != link {
                problems.append("nothing knows the link with tag \(index)")
            }
            let isReachable =
                tag.isWanted && tag.link == nil
                && radios.indices.contains { radio in
                    radios[radio].isUsable && !radios[radio].isSlow && radios[radio].stuckUntil <= now
                        && tag.rssi[radio] != nil
                        && tag.bonds.contains(radio)
                        && radios[radio].capacity.map { capacity in
                            tags.count { $0.link == radio || $0.attempt?.radio == radio } < capacity
                        } ?? true
                }
            guard isReachable else {
                tags[index].reachableSince = nil
                continue
            }
            let since = tag.reachableSince ?? now
            tags[index].reachableSince = since
            if now - since > .seconds(15) { problems.append("tag \(index) has no link for 15 s") }
        }
    }
}

@Suite("Choice of a radio, at random")
struct RadioChoiceModelTests {
    @Test("In 10,000 houses no tag has two links, none is tried without a bond, and none waits 15 s for a free radio")
    func houses() {
        for seed in 0..<10_000 as Range<UInt64> {
            var house = House(seed: seed)
            house.run(seconds: 20)
            #expect(house.problems == [], "seed \(seed)")
            guard house.problems.isEmpty else { return }
        }
    }
}
