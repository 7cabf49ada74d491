import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("Events of the bridge")
struct BridgeEventTests {
    private static let configuration = BridgeConfiguration(instance: "attic", version: "2", tags: [])
    private static let measurement = HealthMeasurement(
        residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)

    /// One event of each kind.
    private static let events: [BridgeEvent] = [
        .started, .stopping, .deadlineReached, .requestEnded(token: 1, .success(.done)), .measured(measurement),
        .configurationChanged(configuration, isBrokerConnected: true),
        .tagAdded(TagEntry(id: .known("0001"), serial: "0001")),
        .tagChanged(TagEntry(id: .tag003R, serial: "003R", name: "Sleeve")), .tagRemoved(.tag003R),
        .tag(.tag003R, .gesture(.doubleTap)), .tag(.tag003R, .battery(BatteryStatus(level: 5, isCharging: false))),
        .tag(.tag003R, .commandEnded(token: 1, .success(.done))), .sighting(.tag003R, TagSighting(rssi: -40)),
        .advertisement(TagAdvertisement(address: "F0:01", serial: "003R", name: nil, rssi: -60)),
        .duplicateSerial("003R", addresses: ["F0:01", "F0:02"]), .pairing(.tag003R, .pairing),
        .bluetooth(.poweredOff), .adapters([]), .bluezVersion("5.66"), .scanEnded, .brokerHasNoSession,
        .leavingBroker, .brokerConnected,
        .brokerProtocol(5), .message(MQTTMessage(topic: "jacquard/tag/003R/led/set", payload: Array("on".utf8))),
        .subscriptionRefused(filter: "jacquard/tag/+/+/set"), .messageRefused(topic: "t", reason: "not_authorized"),
        .messagesLost(.init(results: 1)),
    ]

    @Test("begin with a configuration that has the defaults of the contract")
    func defaults() {
        let configuration = Self.configuration
        let options = configuration.options
        #expect(configuration.baseTopic == "jacquard" && configuration.discoveryPrefix == "homeassistant")
        #expect(options.ledOn == .seconds(10) && options.gestureLifetime == .seconds(5))
        #expect(options.commandsPerTag == 32 && !options.isTracing && !options.watchesFleet)
        #expect(configuration.homeAssistant == nil)
    }

    @Test("except commands have no effect after the bridge has stopped", arguments: events)
    func stopped(event: BridgeEvent) {
        let scene = Scene.connected()
        scene.handle(.stopping)
        let actions = scene.state.handle(event, at: scene.now)
        if case .message = event { #expect(actions.count == 1) } else { #expect(actions == []) }
        #expect(scene.state.deadline == nil)
    }

    @Test("leave no deadline after 90 s", arguments: events)
    func deadline(event: BridgeEvent) {
        let scene = Scene(tags: [.tag003R, TagEntry(id: .known("0002"), serial: "0002", connect: .onDemand)])
        scene.send("tag/0002/led/set", #"{"state":"ON","ttl_ms":300}"#)
        _ = scene.state.handle(event, at: scene.now)
        scene.wait(.seconds(90))
        #expect(scene.state.deadline == nil)
    }
}

@Suite("TagTable")
struct TagTableTests {
    private static let context = Scene.configuration().tagContext(
        BridgeTopics(base: "jacquard", instance: "attic"), StatsPayload(boot: "9f3c"))

    private static func table(_ count: Int) -> TagTable {
        TagTable(
            (0..<count).map { number in
                TagMirror(
                    TagEntry(id: .known("\(number)"), serial: "\(number % 2)", connect: .onDemand), record: nil,
                    in: context, at: Scene.beginning)
            })
    }

    @Test("finds tags by id, also after one was removed")
    func positions() {
        var table = Self.table(4)
        #expect(table.position(of: .known("3")) == 3)
        _ = table.remove(at: 1)
        #expect(table.position(of: .known("1")) == nil)
        #expect(table.position(of: .known("3")) == 2)
        #expect(table.contains(serial: "1"))
        #expect(!table.isShared(serial: "1"))
        #expect(table.isShared(serial: "0"))
    }

    @Test(
        "publishes at most fifty documents with statistics a second",
        arguments: [(1, 1_000), (50, 1_000), (400, 8_000)])
    func statsInterval(count: Int, milliseconds: Int) {
        var table = Self.table(count)
        for position in table.indices {
            let count = table.countGesture(.cover, of: table[position].handle, at: Scene.beginning)
            #expect(count?.stats != nil)
        }
        let later = Scene.beginning + .milliseconds(100)
        for position in table.indices {
            let count = table.countGesture(.cover, of: table[position].handle, at: later)
            #expect(count != nil && count?.stats == nil)
        }
        // Held-back ones wait for the next tenth of a second.
        let due = Scene.beginning.instant + .milliseconds(milliseconds)
        for position in table.indices {
            let deadline = table[position].nextDeadline()
            #expect(deadline.map { ($0 - due) < .milliseconds(100) && $0 >= due } == true)
        }
        // The interval follows the number of tags.
        for _ in 1..<count { _ = table.remove(at: table.count - 1) }
        var effects = Effects()
        table[0].deadlineReached(at: Scene.beginning + .seconds(20), &effects)
        _ = table.countGesture(.cover, of: table[0].handle, at: Scene.beginning + .milliseconds(20_100))
        let deadline = table.nextDeadline()
        #expect(deadline.map { $0 - Scene.beginning.instant < .milliseconds(21_100) } == true)
    }

    @Test("has the earliest deadline of all tags after each change", arguments: 0..<20)
    func deadlines(seed: Int) {
        var generator = SplitMix(seed: UInt64(seed))
        var table = Self.table(5)
        var now = Scene.beginning
        var effects = Effects()
        for _ in 0..<100 {
            now = now + .milliseconds(Int.random(in: 0..<700, using: &generator))
            let position = Int.random(in: 0..<table.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: _ = table.countGesture(.cover, of: table[position].handle, at: now)
            case 1: table[position].link.need(at: now.instant)
            case 2: table[position].batteryReported(BatteryStatus(level: 1, isCharging: false), at: now, &effects)
            case 3: for due in table.due(at: now.instant) { table[due].deadlineReached(at: now, &effects) }
            default: table[position].link.hold()
            }
            let deadlines = table.compactMap { tag in
                var tag = tag
                return tag.nextDeadline()
            }
            let deadline = table.nextDeadline()
            #expect(deadline == deadlines.min())
        }
    }
}
