import EventLoop
import TagFirmware
import Time

/// Tags that execute a command, lose its answer, and refuse the next one. Drawn from a source of its own, so that a seed without
/// these faults stays as it is.
@LoopActor
final class LostAnswers {
    private let world: World
    private var random: SplitMix

    /// The longest time until the bridge has set or read again what such a pair leaves unknown: both timeouts and the commands that
    /// wait for them.
    private static let recovery = Duration.seconds(60)

    /// Pairs of commands that change one fact.
    private static let pairs = [
        ("touch_mode/set", #""touch_mode":"continuous""#, #""touch_mode":"gesture""#),
        ("touch_mode/set", #""touch_mode":"gesture""#, #""touch_mode":"continuous""#),
        ("led/set", ##""color":"#00ff00","duration_ms":150000"##, #""state":"OFF""#),
        ("led/set", #""state":"OFF""#, ##""color":"#ff0000","duration_ms":150000"##),
        ("name/set", #""name":"Sleeve""#, #""name":"Left""#),
        ("name/set", #""name":"Left""#, #""name":"Jacquard""#),
        ("config/set", #""key":"sim","type":"uint32","value":8"#, #""key":"sim","type":"uint32","value":9"#),
    ]

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.options.seed &* 0x9FB2_1C65_1E98_DF25 &+ 11)
    }

    private func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    /// Plans the next pair.
    func begin() {
        world.after(.seconds(5 + Int64(draw(60)))) { [self] in
            play(on: world.tags[draw(world.tags.count)], Self.pairs[draw(Self.pairs.count)])
            begin()
        }
    }

    private func play(on tag: AirTag, _ pair: (topic: String, first: String, second: String)) {
        let refusals = 1 + draw(2)
        let status = [1, 2, 3, 7, 10][draw(5)]
        let isAtOnce = draw(2) == 0
        guard tag.link != nil, tag.troubledUntil < world.now else { return }
        world.faults.note("\(tag.serial) loses an answer, then refuses \(refusals) with \(status)")
        tag.plan([.drop] + Array(repeating: .status(UInt32(status)), count: refusals))
        tag.troubledUntil = world.now + Self.recovery
        let end = tag.troubledUntil
        // A command that the tag never receives leaves the faults to others.
        world.after(.seconds(25)) { if tag.troubledUntil == end { tag.endFault() } }
        world.people.command(tag, pair.topic, pair.first)
        world.after(isAtOnce ? .zero : .seconds(9)) { [self] in world.people.command(tag, pair.topic, pair.second) }
    }
}
