import Bridge
import EventLoop
import JSON
import JacquardProtocol
import MQTTTypes
import Time

/// The gestures that one process of a bridge has received.
@LoopActor
final class ProcessOracle {
    private let world: World
    private let bridge: String
    private var passed: [String: [Gesture]] = [:]
    private var published: [String: Set<Int64>] = [:]
    private var last: [String: Int64] = [:]
    /// When the latest gesture of each tag was received.
    private var latest: [String: Instant] = [:]
    /// The tags with gestures since the last comparison.
    private var unchecked: Set<String> = []

    init(_ world: World, bridge: String) {
        self.world = world
        self.bridge = bridge
    }

    /// Tags that were forgotten: it is not known which of their gestures is the first one after that.
    private var unnumbered: Set<String> = []

    /// A request to forget a tag is sent.
    func forgets(_ tag: String) {
        unnumbered.insert(tag)
    }

    /// The tags that were removed from the configuration: gestures until the end of their links are not published.
    private var removed: Set<String> = []

    /// A tag was removed from the bridge, or is added again: its statistics go on. A tag that was paired by request stays while it is not
    /// listed.
    func listChanged(_ tag: String, isRemoved: Bool) {
        if isRemoved { removed.insert(tag) } else { removed.remove(tag) }
    }

    /// The number of counted gestures without a publication, of each tag.
    private var expired: [String: Int64] = [:]

    func published(statistics message: MQTTMessage) {
        guard let number = JSONValue(parsing: message.payload)?["expired"]?.integer else { return }
        expired[World.serial(of: message.topic) ?? ""] = number
    }

    /// The radio passes a gesture on.
    func passedOn(_ mark: GestureMark) {
        guard !removed.contains(mark.tag) else { return }
        passed[mark.tag, default: []].append(mark.gesture)
        latest[mark.tag] = world.now
        unchecked.insert(mark.tag)
    }

    func published(gesture message: MQTTMessage) {
        guard let document = JSONValue(parsing: message.payload), let number = document["seq"]?.integer,
            let type = document["event_type"]?.string
        else { return world.fail("a gesture cannot be read") }
        let tag = World.serial(of: message.topic) ?? ""
        if unnumbered.contains(tag) { return }
        let all = passed[tag] ?? []
        guard number >= 1, number <= all.count else {
            return world.fail("gesture \(number) of \(tag) was published, and \(all.count) were received")
        }
        let wanted = all[Int(number) - 1].word
        if wanted != type { world.fail("gesture \(number) of \(tag) is \(type), and was \(wanted)") }
        let isNew = published[tag, default: []].insert(number).inserted
        if isNew, number < last[tag] ?? 0 { world.fail("gesture \(number) of \(tag) comes after \(last[tag] ?? 0)") }
        last[tag] = max(last[tag] ?? 0, number)
    }

    /// All received gestures of connected tags are published or counted.
    ///
    /// - Parameter isConnected: whether the bridge is connected to a tag.
    func check(isConnected: (AirTag) -> Bool) {
        guard !unchecked.isEmpty else { return }
        for tag in unchecked.sorted() where latest[tag].map({ world.now - $0 >= Oracle.calm }) ?? true {
            // A bridge that has left a tag to another one publishes no statistics of it.
            guard let air = world.tags.first(where: { $0.serial == tag }), isConnected(air),
                world.now - air.lastDisturbance >= Oracle.calm
            else { continue }
            unchecked.remove(tag)
            guard !unnumbered.contains(tag) else { continue }
            let missing = (passed[tag]?.count ?? 0) - (published[tag]?.count ?? 0)
            guard missing > 0 else { continue }
            let counted = expired[tag, default: 0]
            if missing > counted {
                world.fail("\(missing) gestures of \(tag) are missing at \(bridge), and \(counted) are counted")
            }
        }
    }

    /// The process has stopped in order, with a broker: no gesture is lost but those that are counted. With several bridges the
    /// counts of a tag are published by another one once it has gone there.
    func stopped() {
        guard world.options.bridges == 1 else { return }
        for tag in passed.keys.sorted() where !unnumbered.contains(tag) {
            let missing = (passed[tag]?.count ?? 0) - (published[tag]?.count ?? 0) - Int(expired[tag, default: 0])
            if missing > 0 { world.fail("\(missing) gestures of \(tag) are missing after a stop of \(bridge)") }
        }
    }
}
