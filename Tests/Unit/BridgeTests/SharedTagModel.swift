import HomeAssistant
import JSON
import JacquardProtocol
import MQTTTypes
import Time

@testable import Bridge

/// Two bridges that know one tag, and a broker that delays messages: a simulation of discrete events, drawn from a seed.
///
/// Messages of one connection keep their order. A connection that ends may lose what is on its way. The tag is connected to
/// at most one bridge; the other one may notice late that it has lost it.
struct SharedTagModel {
    /// An event that is due.
    private enum Event {
        case up(link: Int, Packet)
        case down(link: Int, Arrival)
        case sendRetained(link: Int, filter: String)
        case linkLost(bridge: Int, link: Int)
        case connect(bridge: Int, run: Int)
        case deadline(bridge: Int, run: Int, Instant)
        case tag(bridge: Int, run: Int, TagEvent)
        case battery(bridge: Int, run: Int)
        case brokerBegins
    }

    private enum Packet {
        case subscribe([String])
        case publish(UInt64?, Publication)
        /// The end of the connection; unless it is clean, the broker publishes the will.
        case end(isClean: Bool)
    }

    private enum Arrival {
        case message(topic: String, payload: [UInt8], isRetained: Bool)
        case acknowledgement(UInt64)
    }

    /// A connection as the broker has it.
    private struct Link {
        let bridge: Int
        let will: Publication
        var filters: [String] = []
        /// When the latest message of each direction arrives.
        var up: Instant
        var down: Instant
        var isOpen = true
        /// Whether what is on its way to the broker is lost.
        var isCut = false
    }

    private final class Bridge {
        let name: String
        var state: BridgeState?
        var outbox = Outbox()
        var run = 0
        var link: Int?
        var attempts = 1
        /// Whether it ends as soon as everything is acknowledged.
        var isStopping = false

        init(name: String) {
            self.name = name
        }

        var hasState: Bool { state?.run.boot != nil }

        var isRunning: Bool { hasState && !isStopping }
    }

    static let names = ["attic", "cellar"]
    private static let tag = "jacquard/tag/003R/"

    private var random: SplitMix
    private(set) var now = Scene.beginning
    private var events: [(due: Instant, event: Event)] = []
    private var links: [Link] = []
    private var bridges = names.map { Bridge(name: $0) }
    private var isBrokerUp = true
    private var retained: [String: [UInt8]] = [:]
    /// The bridge that the tag is connected to.
    private var holder: Int?
    private var level: UInt8 = 90
    /// When something happened last that the bridges have to handle.
    private var disturbed = Scene.beginning.instant
    private let isAnnounced: Bool
    private let isRetainedLate: Bool
    /// The actions, for a failure's report.
    private(set) var story: [String] = []
    /// The facts that were wrong for longer than two seconds.
    private(set) var faults: [String] = []

    init(seed: UInt64) {
        random = SplitMix(seed: seed)
        isAnnounced = seed % 8 == 0
        isRetainedLate = seed % 5 == 0
    }

    /// Performs a number of actions with pauses, and waits until everything has settled.
    mutating func run(actions: Int) {
        start(0)
        for _ in 0..<actions {
            act()
            let pauses: [Duration] = [.zero, .milliseconds(5), .milliseconds(60), .milliseconds(700), .seconds(3)]
            pass(pauses[Int.random(in: pauses.indices, using: &random)])
        }
        pass(.seconds(3))
        if !bridges.contains(where: \.hasState) { start(0) }
        pass(.seconds(6))
    }
}

// MARK: Actions

extension SharedTagModel {
    private mutating func act() {
        let bridge = Int.random(in: bridges.indices, using: &random)
        let isRunning = bridges[bridge].isRunning
        switch Int.random(in: 0..<16, using: &random) {
        case 0...2 where isRunning: tagConnects(to: bridge)
        case 3: tagIsLost()
        case 4 where isRunning: kill(bridge)
        case 5 where isRunning: stop(bridge)
        case 4...8 where !bridges[bridge].hasState: start(bridge)
        case 9: endBroker(keepsStore: true)
        case 10: endBroker(keepsStore: false)
        case 11 where isRunning: cut(bridge)
        case 12 where isRunning: progress(bridge)
        case 13: changeLevel()
        case 14 where isRunning: request("jacquard/bridge/\(bridges[bridge].name)/request/refresh", "")
        case 15 where isAnnounced: request("homeassistant/status", "online")
        default: progress(bridge)
        }
    }

    private mutating func note(_ text: String) {
        story.append("\((now.instant - Scene.beginning.instant).milliseconds) \(text)")
        disturbed = now.instant
    }

    private mutating func start(_ bridge: Int) {
        note("start \(bridges[bridge].name)")
        let configuration = BridgeConfiguration(
            instance: bridges[bridge].name, version: "0.1.0", tags: [.tag003R],
            homeAssistant: isAnnounced ? HomeAssistantConfiguration() : nil)
        bridges[bridge].run += 1
        bridges[bridge].outbox = Outbox(window: Int.random(in: 1...20, using: &random))
        bridges[bridge].state = BridgeState(
            configuration: configuration, boot: "\(bridges[bridge].run)", startedAt: now)
        handle(.started, bridge)
        handle(.bluetooth(.poweredOn), bridge)
        schedule(.connect(bridge: bridge, run: bridges[bridge].run), after: delay())
    }

    private mutating func kill(_ bridge: Int) {
        note("kill \(bridges[bridge].name)")
        end(bridge, isClean: false)
    }

    private mutating func stop(_ bridge: Int) {
        note("stop \(bridges[bridge].name)")
        handle(.stopping, bridge)
        bridges[bridge].isStopping = true
        if holder == bridge { holder = nil }
        endIfStopped(bridge)
    }

    private mutating func endIfStopped(_ bridge: Int) {
        if bridges[bridge].isStopping, bridges[bridge].outbox.queued == 0 || bridges[bridge].link == nil {
            end(bridge, isClean: true)
        }
    }

    private mutating func end(_ bridge: Int, isClean: Bool) {
        if let link = bridges[bridge].link {
            if !isClean, Bool.random(using: &random) { links[link].isCut = true }
            schedule(.up(link: link, .end(isClean: isClean)), of: link)
        }
        bridges[bridge].state = nil
        (bridges[bridge].link, bridges[bridge].isStopping) = (nil, false)
        if holder == bridge { holder = nil }
    }

    /// The connection to the broker is lost. The broker may notice it later.
    private mutating func cut(_ bridge: Int) {
        guard let link = bridges[bridge].link else { return }
        note("cut \(bridges[bridge].name)")
        links[link].isCut = Bool.random(using: &random)
        if Bool.random(using: &random) {
            schedule(.up(link: link, .end(isClean: false)), of: link)
        } else {
            schedule(.up(link: link, .end(isClean: false)), after: .milliseconds(1_900))
        }
        linkLost(bridge)
    }

    private mutating func endBroker(keepsStore: Bool) {
        guard isBrokerUp else { return }
        let publishesWills = Bool.random(using: &random)
        note("end of the broker, keeps store: \(keepsStore), publishes wills: \(publishesWills)")
        isBrokerUp = false
        for index in links.indices where links[index].isOpen {
            links[index].isOpen = false
            if publishesWills { store(links[index].will) }
            schedule(.linkLost(bridge: links[index].bridge, link: index), after: delay())
        }
        if !keepsStore { retained = [:] }
        schedule(.brokerBegins, after: .milliseconds(Int.random(in: 0...1_500, using: &random)))
    }

    private mutating func tagConnects(to bridge: Int) {
        guard holder != bridge else { return }
        tagIsLost()
        note("tag to \(bridges[bridge].name)")
        holder = bridge
        report(.information(.tag), bridge)
        report(.connection(TagConnection(state: .connected, attempt: 1)), bridge)
        schedule(
            .battery(bridge: bridge, run: bridges[bridge].run),
            after: .milliseconds(Int.random(in: 0...500, using: &random)))
    }

    /// The bridge notices it now or later.
    private mutating func tagIsLost() {
        guard let old = holder else { return }
        note("tag lost")
        holder = nil
        bridges[old].attempts += 1
        let connection = TagConnection(state: .preparingToConnect, attempt: bridges[old].attempts)
        let pause = [0, 0, 30, 400, 1_200][Int.random(in: 0..<5, using: &random)]
        schedule(.tag(bridge: old, run: bridges[old].run, .connection(connection)), after: .milliseconds(pause))
    }

    /// An unconnected bridge has news of its attempts.
    private mutating func progress(_ bridge: Int) {
        guard holder != bridge else { return }
        bridges[bridge].attempts += 1
        report(.connection(TagConnection(state: .preparingToConnect, attempt: bridges[bridge].attempts)), bridge)
        handle(.sighting(.tag003R, TagSighting(adapter: "hci\(bridges[bridge].attempts)", rssi: -60)), bridge)
    }

    private mutating func changeLevel() {
        level -= 1
        guard let holder else { return }
        note("level \(level)")
        reportBattery(holder)
    }

    private mutating func reportBattery(_ bridge: Int) {
        report(.battery(BatteryStatus(level: UInt32(level), isCharging: false)), bridge)
    }

    private mutating func report(_ event: TagEvent, _ bridge: Int) { handle(.tag(.tag003R, event), bridge) }

    private mutating func request(_ topic: String, _ payload: String) {
        note(topic)
        publish(Publication(topic: topic, payload: Array(payload.utf8), kind: .event(lifetime: .seconds(1))))
    }
}

// MARK: Time

extension SharedTagModel {
    private mutating func delay() -> Duration {
        let longest = [1, 1, 10, 100][Int.random(in: 0..<4, using: &random)]
        return .milliseconds(Int.random(in: 0...longest, using: &random))
    }

    private mutating func schedule(_ event: Event, at due: Instant) {
        let place = events.firstIndex { $0.due > due } ?? events.endIndex
        events.insert((due, event), at: place)
    }

    private mutating func schedule(_ event: Event, after pause: Duration) { schedule(event, at: now.instant + pause) }

    /// Behind all earlier messages from a bridge to the broker.
    private mutating func schedule(_ event: Event, of link: Int) {
        links[link].up = max(links[link].up, now.instant + delay())
        schedule(event, at: links[link].up)
    }

    private mutating func pass(_ duration: Duration) {
        let end = now.instant + duration
        while let next = events.first, next.due <= end {
            events.removeFirst()
            check(until: next.due)
            now = now + max(.zero, next.due - now.instant)
            perform(next.event)
        }
        check(until: end)
        now = now + max(.zero, end - now.instant)
    }

    private mutating func perform(_ event: Event) {
        switch event {
        case .up(let link, let packet): received(packet, link)
        case .down(let link, let arrival): arrived(arrival, link)
        case .sendRetained(let link, let filter): sendRetained(filter, link)
        case .linkLost(let bridge, let link): if bridges[bridge].link == link { linkLost(bridge) }
        case .connect(let bridge, let run): if bridges[bridge].run == run { connect(bridge) }
        case .deadline(let bridge, let run, let due):
            if bridges[bridge].run == run, bridges[bridge].state?.deadline == due { handle(.deadlineReached, bridge) }
        case .tag(let bridge, let run, let event):
            // Unless it has connected again before it noticed the end.
            guard bridges[bridge].run == run, bridges[bridge].isRunning, holder != bridge else { break }
            report(event, bridge)
            disturbed = now.instant
        case .battery(let bridge, let run):
            guard bridges[bridge].run == run, holder == bridge else { break }
            reportBattery(bridge)
            disturbed = now.instant
        case .brokerBegins:
            isBrokerUp = true
            disturbed = now.instant
        }
    }
}

// MARK: Bridges

extension SharedTagModel {
    private mutating func handle(_ event: BridgeEvent, _ bridge: Int) {
        guard let actions = bridges[bridge].state?.handle(event, at: now) else { return }
        for action in actions {
            switch action {
            case .publish(let publication):
                send(bridges[bridge].outbox.submit(publication, at: now.instant), bridge)
            case .withhold(let topics): bridges[bridge].outbox.withhold(topics)
            case .republish(let topics): send(bridges[bridge].outbox.republish(topics, at: now.instant), bridge)
            default: break
            }
        }
        if let due = bridges[bridge].state?.deadline {
            schedule(.deadline(bridge: bridge, run: bridges[bridge].run, due), at: max(due, now.instant))
        }
    }

    private mutating func send(_ deliveries: [Outbox.Delivery], _ bridge: Int) {
        guard let link = bridges[bridge].link else { return }
        for delivery in deliveries {
            schedule(.up(link: link, .publish(delivery.ticket, delivery.publication)), of: link)
        }
    }

    private mutating func connect(_ bridge: Int) {
        guard let will = bridges[bridge].state?.will, bridges[bridge].link == nil,
            let filters = bridges[bridge].state?.subscriptions.map(\.filter)
        else { return }
        guard isBrokerUp else {
            return schedule(.connect(bridge: bridge, run: bridges[bridge].run), after: .milliseconds(300))
        }
        for index in links.indices where links[index].isOpen && links[index].bridge == bridge {
            close(index, isClean: false)
        }
        let link = links.count
        links.append(Link(bridge: bridge, will: will, up: now.instant, down: now.instant))
        bridges[bridge].link = link
        schedule(.up(link: link, .subscribe(filters)), of: link)
        handle(.brokerConnected, bridge)
        handle(.brokerProtocol(5, node: nil), bridge)
        send(bridges[bridge].outbox.connected(at: now.instant), bridge)
        disturbed = now.instant
    }

    private mutating func linkLost(_ bridge: Int) {
        bridges[bridge].link = nil
        bridges[bridge].outbox.disconnected(at: now.instant)
        handle(.brokerDisconnected, bridge)
        guard !bridges[bridge].isStopping else { return endIfStopped(bridge) }
        schedule(
            .connect(bridge: bridge, run: bridges[bridge].run),
            after: .milliseconds(Int.random(in: 0...600, using: &random)))
    }

    private mutating func arrived(_ arrival: Arrival, _ link: Int) {
        let bridge = links[link].bridge
        guard bridges[bridge].link == link else { return }
        switch arrival {
        case .acknowledgement(let ticket):
            send(bridges[bridge].outbox.acknowledged(ticket, at: now.instant), bridge)
            endIfStopped(bridge)
        case .message(let topic, let payload, let isRetained):
            handle(.message(MQTTMessage(topic: topic, payload: payload, isRetained: isRetained)), bridge)
        }
    }
}

// MARK: The broker

extension SharedTagModel {
    private mutating func received(_ packet: Packet, _ link: Int) {
        guard isBrokerUp, links[link].isOpen else { return }
        if case .end(let isClean) = packet { return close(link, isClean: isClean) }
        guard !links[link].isCut else { return }
        switch packet {
        case .subscribe(let filters):
            links[link].filters = filters
            for filter in filters {
                if isRetainedLate {
                    schedule(.sendRetained(link: link, filter: filter), after: delay())
                } else {
                    sendRetained(filter, link)
                }
            }
        case .publish(let ticket, let publication):
            if let ticket { deliver(.acknowledgement(ticket), link) }
            publish(publication)
        case .end: break
        }
    }

    private mutating func close(_ link: Int, isClean: Bool) {
        guard links[link].isOpen else { return }
        links[link].isOpen = false
        if !isClean { publish(links[link].will) }
        disturbed = now.instant
    }

    private mutating func store(_ publication: Publication) {
        guard publication.message.isRetained else { return }
        retained[publication.topic] = publication.payload.isEmpty ? nil : publication.payload
    }

    private mutating func publish(_ publication: Publication) {
        guard isBrokerUp else { return }
        store(publication)
        // With "retain as published", live messages have the flag, too.
        let message = Arrival.message(
            topic: publication.topic, payload: publication.payload, isRetained: publication.message.isRetained)
        for link in links.indices where links[link].isOpen {
            if links[link].filters.contains(where: { Self.matches($0, publication.topic) }) { deliver(message, link) }
        }
    }

    private mutating func sendRetained(_ filter: String, _ link: Int) {
        guard isBrokerUp, links[link].isOpen else { return }
        for topic in retained.keys.sorted() where Self.matches(filter, topic) {
            deliver(.message(topic: topic, payload: retained[topic] ?? [], isRetained: true), link)
        }
    }

    private mutating func deliver(_ arrival: Arrival, _ link: Int) {
        links[link].down = max(links[link].down, now.instant + delay())
        schedule(.down(link: link, arrival), at: links[link].down)
    }

    private static func matches(_ filter: String, _ topic: String) -> Bool {
        var rest = topic.utf8.makeIterator()
        var next = rest.next()
        for byte in filter.utf8 {
            if byte == UInt8(ascii: "+") {
                while let level = next, level != UInt8(ascii: "/") { next = rest.next() }
            } else {
                guard byte == next else { return false }
                next = rest.next()
            }
        }
        return next == nil
    }
}

// MARK: The truth

extension SharedTagModel {
    private func document(_ topic: String) -> JSONValue? {
        retained[topic].flatMap { JSONValue(parsing: $0) }
    }

    private func text(_ topic: String) -> String? { retained[topic].map { String(decoding: $0, as: UTF8.self) } }

    /// Compares the retained facts with the truth if nothing has happened for two seconds.
    private mutating func check(until end: Instant) {
        guard end - disturbed >= .seconds(2), faults.isEmpty else { return }
        for fault in differences {
            faults.append("\((end - Scene.beginning.instant).milliseconds) \(fault)")
        }
    }

    private var differences: [String] {
        let running = bridges.filter(\.isRunning)
        guard isBrokerUp, !running.isEmpty, running.allSatisfy({ $0.link != nil }) else { return [] }
        var facts: [(name: String, found: String?, truth: String?)] = running.map {
            ($0.name, text("jacquard/bridge/\($0.name)/state"), "online")
        }
        let state = document(Self.tag + "connection")?["state"]?.string
        facts.append(("availability", text(Self.tag + "availability"), holder == nil ? "offline" : "online"))
        facts.append(("is connected", "\(state == "connected")", "\(holder != nil)"))
        if let holder {
            let name = bridges[holder].name
            facts.append(("info", document(Self.tag + "info")?["bridge"]?.string, name))
            facts.append(("firmware", document(Self.tag + "info")?["firmware"]?.string, "1.2.3"))
            facts.append(("level", text(Self.tag + "battery/level"), "\(level)"))
            facts.append(
                ("battery", text(Self.tag + "battery")?.contains("\"level\":\(level),") == true ? "" : nil, ""))
            if isAnnounced {
                let device = document("homeassistant/device/jacquard_tag_003R/config")?["device"]
                facts.append(("device", device?["via_device"]?.string, "jacquard_bridge_" + name))
            }
        }
        return facts.filter { $0.found != $0.truth }.map { "\($0.name): \($0.found ?? "-"), not \($0.truth ?? "-")" }
    }
}
