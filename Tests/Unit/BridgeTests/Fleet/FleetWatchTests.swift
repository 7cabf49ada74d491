import JacquardProtocol
import Testing
import Time

@testable import Bridge

/// A watch whose time is set by the test. Effects are written as words.
private struct Watch {
    var machine = FleetWatch(instance: "attic")
    var now = Scene.beginning.instant
    /// The bridges that are online and publish beats.
    var online: Set<ExactText> = []
    /// Whether own beats come back immediately.
    var isEchoing = true

    /// A connected watch of these bridges, after the pause of the start.
    static func of(_ names: ExactText...) -> Watch {
        var watch = Watch()
        watch.machine.brokerConnected(at: watch.now)
        watch.join(names)
        watch.pass(.seconds(30), beatsOf: names)
        return watch
    }

    @discardableResult
    mutating func join(_ names: [ExactText]) -> [String] {
        online.formUnion(names)
        return changed()
    }

    @discardableResult
    mutating func leave(_ name: ExactText) -> [String] {
        online.remove(name)
        return changed()
    }

    private mutating func changed() -> [String] {
        let ring = online.sorted().prefix(FleetWatch.ringSize)
        let online = online
        return words { $0.ringChanged(to: Array(ring), isOnline: { online.contains($0) }, at: $1, &$2) }
    }

    @discardableResult
    mutating func beat(_ name: ExactText, _ payload: String = "1") -> [String] {
        let isOnline = online.contains(name)
        return words { $0.received(beatOf: name, Array(payload.utf8), isOnline: isOnline, at: $1, &$2) }
    }

    /// Returns the number of effects at this time.
    mutating func beat() -> Int {
        var effects: [FleetWatch.Effect] = []
        machine.deadlineReached(at: now, &effects)
        return effects.count
    }

    /// Lets time pass. Each bridge sends a beat every ten seconds.
    @discardableResult
    mutating func pass(_ duration: Duration, beatsOf names: [ExactText] = []) -> [String] {
        let end = now + duration
        var (lines, nextBeats) = ([String](), now + .seconds(10))
        while now < end {
            let deadline = machine.deadline ?? end
            now = min(max(now, deadline), nextBeats, end)
            if now == nextBeats {
                for name in names { lines += beat(name) }
                nextBeats += .seconds(10)
            }
            if deadline <= now { lines += words { $0.deadlineReached(at: $1, &$2) } }
        }
        return lines.filter { $0 != "beat" }
    }

    /// Passes an event to the machine.
    private mutating func words(_ event: (inout FleetWatch, Instant, inout [FleetWatch.Effect]) -> Void) -> [String] {
        var effects: [FleetWatch.Effect] = []
        event(&machine, now, &effects)
        return effects.flatMap { effect -> [String] in
            switch effect {
            case .beat(let number): ["beat"] + (isEchoing ? beat("attic", "\(number)") : [])
            case .subscribe(let names): ["subscribe " + names.map(\.text).joined(separator: " ")]
            case .unsubscribe(let names): ["unsubscribe " + names.map(\.text).joined(separator: " ")]
            case .silent(let name): ["silent " + name.text]
            case .refresh(let name): ["refresh " + name.text]
            }
        }
    }
}

@Suite("The watch of other bridges")
struct FleetWatchTests {
    @Test("publishes a beat one second after a connection, then every ten seconds, and none without a connection")
    func beats() {
        var watch = Watch()
        #expect(watch.machine.deadline == nil)
        watch.machine.brokerConnected(at: watch.now)
        for _ in 0..<3 {
            watch.now = watch.machine.deadline ?? watch.now
            #expect(watch.beat() == 1)
        }
        #expect(watch.now == Scene.beginning.instant + .seconds(21))
        #expect(watch.beat() == 0)
        watch.machine.brokerDisconnected(at: watch.now)
        #expect(watch.machine.deadline == nil)
        watch.now += .seconds(100)
        #expect(watch.beat() == 0)
    }

    @Test("subscribes to the beats of the ring, and to changes only")
    func ring() {
        var watch = Watch()
        watch.machine.brokerConnected(at: watch.now)
        #expect(watch.join(["b", "c"]) == ["subscribe b c"])
        #expect(watch.join(["a"]) == ["subscribe a"])
        #expect(watch.leave("b") == ["unsubscribe b"])
        #expect(watch.join([]) == [])
        #expect(watch.machine.sources == ["attic", "a", "c"])
        #expect(watch.join(["d", "e", "f", "g", "h", "i", "j"]) == ["subscribe d e f g h i"])
        #expect(watch.machine.ring.count == FleetWatch.ringSize)
    }

    @Test("a bridge is silent 33 s after its last beat, once")
    func silent() {
        var watch = Watch.of("b", "c")
        #expect(watch.pass(.seconds(32), beatsOf: ["c"]) == [])
        #expect(watch.pass(.seconds(2), beatsOf: ["c"]) == ["silent b"])
        #expect(watch.pass(.seconds(600), beatsOf: ["c"]) == [])
    }

    @Test("a bridge is not silent while it sends beats", arguments: [1, 60, 3_600])
    func beating(seconds: Int) {
        var watch = Watch.of("b")
        #expect(watch.pass(.seconds(seconds), beatsOf: ["b"]) == [])
    }

    @Test("a bridge that is offline is not watched, and is watched again when it is online")
    func offline() {
        var watch = Watch.of("b")
        #expect(watch.leave("b") == ["unsubscribe b"])
        #expect(watch.pass(.seconds(100)) == [])
        #expect(watch.join(["b"]) == ["subscribe b"])
        #expect(watch.pass(.seconds(32)) == [])
        #expect(watch.pass(.seconds(2)) == ["silent b"])
    }

    @Test("no bridge is silent while own beats do not come back, nor in the 33 s after that")
    func ownConnection() {
        var watch = Watch.of("b")
        watch.isEchoing = false
        #expect(watch.pass(.seconds(300)) == [])
        watch.isEchoing = true
        #expect(watch.pass(.seconds(32)) == [])
        #expect(watch.pass(.seconds(21)) == ["silent b"])
    }

    @Test("an own beat that comes back late begins the silence again")
    func late() {
        var watch = Watch.of("b")
        watch.isEchoing = false
        watch.pass(.seconds(34))
        watch.now += .seconds(8)
        #expect(watch.beat("attic", "5") == [])
        watch.isEchoing = true
        #expect(watch.pass(.seconds(32)) == [])
        #expect(watch.pass(.seconds(2)) == ["silent b"])
    }

    @Test("a stalled broker that delivers everything at once makes no bridge silent", arguments: [20, 34, 45, 120])
    func stall(seconds: Int) {
        var watch = Watch.of("b", "c")
        watch.isEchoing = false
        watch.pass(.seconds(seconds))
        for number in 1...30 { #expect(watch.beat("attic", "\(number)") == []) }
        watch.isEchoing = true
        for name: ExactText in ["b", "c"] { #expect(watch.beat(name) == []) }
        #expect(watch.pass(.seconds(120), beatsOf: ["b", "c"]) == [])
    }

    @Test("a connection begins the silence again; after the start or a long outage, the others have 30 s more")
    func connection() {
        var watch = Watch.of("b")
        watch.pass(.seconds(25))
        watch.machine.brokerDisconnected(at: watch.now)
        watch.now += .seconds(59)
        watch.machine.brokerConnected(at: watch.now)
        #expect(watch.pass(.seconds(32)) == [])
        #expect(watch.pass(.seconds(2)) == ["silent b"])

        var long = Watch.of("b")
        long.machine.brokerDisconnected(at: long.now)
        // Failed attempts.
        long.machine.brokerDisconnected(at: long.now + .seconds(50))
        long.now += .seconds(60)
        long.machine.brokerConnected(at: long.now)
        #expect(long.join(["c"]) == ["subscribe c"])
        #expect(long.pass(.seconds(62)) == [])
        #expect(Set(long.pass(.seconds(2))) == ["silent b", "silent c"])

        var start = Watch()
        start.machine.brokerConnected(at: start.now)
        start.join(["b"])
        #expect(start.pass(.seconds(62)) == [])
        #expect(start.pass(.seconds(2)) == ["silent b"])
    }

    @Test("a silent bridge leaves the ring with its state, and returns with it")
    func returns() {
        var watch = Watch.of("b")
        #expect(watch.pass(.seconds(34)) == ["silent b"])
        #expect(watch.leave("b") == [])
        #expect(watch.machine.sources == ["attic", "b"])
        #expect(watch.machine.ring == [])
        #expect(watch.join(["b"]) == [])
        #expect(watch.machine.ring == ["b"])
        #expect(watch.pass(.seconds(34)) == ["silent b"])
    }

    @Test("a beat of a silent bridge whose state is offline requests its facts, each time until it is online")
    func healed() {
        var watch = Watch.of("b")
        watch.pass(.seconds(34))
        watch.leave("b")
        #expect(watch.beat("b", "7") == ["refresh b"])
        #expect(watch.pass(.seconds(60)) == [])
        #expect(watch.beat("b", "8") == ["refresh b"])
        watch.join(["b"])
        #expect(watch.beat("b", "9") == [])
    }

    @Test("unsubscribes from beats that an earlier connection subscribed to")
    func stranger() {
        var watch = Watch.of("b")
        #expect(watch.beat("x") == ["unsubscribe x"])
    }

    @Test("receives beats of at most eight silent bridges, the last ones")
    func mostSilent() {
        var watch = Watch()
        watch.machine.brokerConnected(at: watch.now)
        var forgotten: [String] = []
        for round in 0..<20 {
            watch.join([ExactText("b\(round)")])
            forgotten += watch.pass(.seconds(64)).filter { $0.hasPrefix("unsubscribe") }
            forgotten += watch.leave(ExactText("b\(round)"))
        }
        #expect(forgotten == (0..<12).map { "unsubscribe b\($0)" })
        #expect(watch.machine.sources.count == 1 + FleetWatch.maxSilent)
    }

    @Test(
        "ignores payloads that are no number of an own beat",
        arguments: ["", "x", "-1", "999999", "18446744073709551616", String(repeating: "1", count: 100_000)])
    func nonsense(payload: String) {
        var watch = Watch.of("b")
        watch.isEchoing = false
        watch.pass(.seconds(34))
        #expect(watch.beat("attic", payload) == [])
    }

    @Test("the work of a ring does not depend on the number of bridges")
    func constant() {
        for count in [10, 100, 1_000] {
            var peers = PeerBridges(instance: "b500")
            for number in 0..<count {
                let name = "b\(number)"
                _ = peers.received(
                    info: Array(#"{"tags":[],"watch":true}"#.utf8), of: name, at: Scene.beginning.instant)
                _ = peers.received(state: Array("online".utf8), of: name, at: Scene.beginning.instant)
            }
            #expect(peers.ring(of: FleetWatch.ringSize).count == 8)
        }
    }
}
