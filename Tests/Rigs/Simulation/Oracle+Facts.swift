import Bluetooth
import EventLoop
import JSON
import JacquardProtocol
import MQTTTypes
import TagFirmware
import Time

/// The facts that bridges publish, and the truth.
extension Oracle {
    func fact(_ topic: String) -> JSONValue? {
        world.broker.retained["jacquard/" + topic].flatMap { JSONValue(parsing: $0.payload) }
    }

    func text(_ topic: String) -> String? {
        world.broker.retained["jacquard/" + topic].map { String(decoding: $0.payload, as: UTF8.self) }
    }

    func expect(_ topic: String, _ found: String?, _ wanted: String) {
        if found != wanted { violated("\(topic) is \(found ?? "missing"), and the truth is \(wanted)") }
    }

    /// Whether a bridge runs and has a broker.
    func isServing(_ host: BridgeHost) -> Bool {
        host.process?.isRunning == true && world.broker.isConnected("jacquard-\(host.instance)")
            && !world.cutBridges.contains(host.instance)
    }

    /// Whether a bridge has no network, and the broker does not know it yet.
    private func isCutOff(_ host: BridgeHost) -> Bool {
        world.cutBridges.contains(host.instance) && world.broker.isConnected("jacquard-\(host.instance)")
    }

    func check(_ host: BridgeHost) {
        let topic = "bridge/\(host.instance)/"
        // After a crash during an outage of the broker, nothing corrects the state before the next start.
        guard isServing(host) else { return }
        expect(topic + "state", text(topic + "state"), "online")
        let tags = world.tags.filter { host.isLinked($0) }
        if host.radio.state == .poweredOn,
            world.tags.allSatisfy({ world.now - $0.lastDisturbance >= Self.calm && !isTroubled($0) })
        {
            expect(
                topic + "tags.connected", fact(topic + "tags")?["connected"]?.integer.map { "\($0)" }, "\(tags.count)")
        }
        let states = fact(topic + "adapter")?.elements?.compactMap { $0["state"]?.string } ?? []
        switch host.radio.state {
        case .poweredOn: expect(topic + "adapter", states.first, "powered_on")
        case .poweredOff: expect(topic + "adapter", states.first, "powered_off")
        case .unsupported: if !states.isEmpty { violated("\(topic)adapter is \(states), and there is none") }
        default: break
        }
        checkHealth(host)
    }

    func checkHealth(_ host: BridgeHost) {
        let topic = "bridge/\(host.instance)/health"
        let codes = fact(topic)?["problems"]?.elements?.compactMap { $0["code"]?.string } ?? ["missing"]
        let wanted: String? =
            switch host.radio.state {
            case .resetting, .unsupported: "no_adapter"
            case .poweredOff: "adapter_not_ready"
            default: nil
            }
        if let wanted, !codes.contains(wanted) {
            violated("\(topic) names \(codes), and the state of Bluetooth is \(host.radio.state)")
        }
        if !host.isDiskFull, world.now - host.diskFreeSince > Self.longestSave, codes.contains("state_not_saved"),
            !world.faults.hadBrokerOutage(within: Self.longestSave)
        {
            violated("\(topic) names \(codes), and the disk has room for \(world.now - host.diskFreeSince)")
        }
        guard world.now - world.lastDisturbance > Self.healthDelay, wanted == nil else { return }
        var lasting = ["events_dropped", "state_damaged"]
        // The failure of a tag lasts until it is connected, a while after its link was made.
        if !world.tags.allSatisfy({ host.isLinked($0) && world.now - $0.linkedAt >= Self.calm }) {
            lasting.append("tag_unusable")
        }
        // As with other failures, until the next attempt, for which the tag must be heard.
        let isShared = world.options.sharesAdapter && lasting.contains("tag_unusable")
        if isShared || world.tags.contains(where: { host.radio.isUsedByAnother($0.address, than: host) }) {
            lasting.append("in_use")
        }
        // A broker that ends twice with the same message in flight seems to refuse it.
        if world.faults.hadBrokerOutage(within: .seconds(700)) { lasting.append("broker_refuses") }
        if host.isDiskFull { lasting.append("state_not_saved") }
        if world.tags.contains(where: \.needsPairing) { lasting += ["peer_removed_pairing_info", "tag_unusable"] }
        if !codes.allSatisfy(lasting.contains) {
            violated("\(topic) names \(codes) after \(world.now - world.lastDisturbance)")
        }
    }

    /// Whether a bridge may wait for a request or a response that never comes.
    func isTroubled(_ tag: AirTag) -> Bool {
        tag.troubledUntil > world.now || tag.needsPairing
            || world.hosts.contains { host in
                (host.radio.faultRate > 0 || host.radio.troubledUntil > world.now)
                    && host.isLinked(tag)
            }
    }

    /// Compares the facts of a tag with the truth.
    ///
    /// - Returns: whether they could be compared.
    func check(_ tag: AirTag) -> Bool {
        let topic = "tag/\(tag.serial)/"
        // A link that a killed process has left is none.
        let owner = world.hosts.first { $0.isLinked(tag) }
        let author = fact(topic + "info")?["bridge"]?.string
        let isHidden = world.hosts.contains { isCutOff($0) && ($0 === owner || $0.instance == author) }
        guard !isTroubled(tag), !isHidden else { return false }
        guard let owner, isServing(owner) else {
            expect(topic + "availability", text(topic + "availability"), "offline")
            let state = fact(topic + "connection")?["state"]?.string
            if state == "connected" { violated("\(topic)connection is connected without a link") }
            if world.hosts.allSatisfy({ isServing($0) && $0.radio.state == .poweredOff }) {
                expect(topic + "connection", state, "disconnected")
            }
            return true
        }
        expect(topic + "availability", text(topic + "availability"), "online")
        expect(topic + "connection", fact(topic + "connection")?["state"]?.string, "connected")
        expect(topic + "info.bridge", fact(topic + "info")?["bridge"]?.string, owner.instance)
        let name = owner.configuredName(of: Int(tag.serial) ?? 0) ?? tag.firmware.name
        let hasOpenName = order.contains { id in
            commands[id].map { $0.demand.name != nil && $0.tag === tag && $0.results == 0 } ?? false
        }
        // Without a link, the bridge reads the name again at the next one.
        let isNameRead = world.options.losesAnswers && world.now - tag.nameLostAt > Self.longestReading
        if tag.nameLostAt < tag.linkedAt || isNameRead, !hasOpenName {
            expect(topic + "info.name", fact(topic + "info")?["name"]?.string, name)
        }
        expect(topic + "battery/level", text(topic + "battery/level"), "\(tag.firmware.battery.level)")
        let gear = tag.firmware.gear
        expect(topic + "gear.attached", fact(topic + "gear")?["attached"]?.flag.map { "\($0)" }, "\(gear != nil)")
        if let gear {
            let product = fact(topic + "gear")?["product_id"]?.string
            expect(topic + "gear.product_id", product, gear.gear.product.product.id.description)
            let mode = gear.touchMode == .gesture ? "gesture" : "continuous"
            expect(topic + "touch_mode", text(topic + "touch_mode"), mode)
        }
        if world.options.losesAnswers { checkLight(of: tag, owner) }
        return true
    }

    /// The longest time until a bridge has read again what a lost answer leaves unknown.
    private static let longestReading = Duration.seconds(30)
    /// The longest time between the end of a pattern and its end by the bridge's clock, with the time of the answer.
    private static let longestAnswer = Duration.seconds(12)

    /// Compares the light's fact with the LED. A bridge does not know what another one, or an earlier run, has played.
    private func checkLight(of tag: AirTag, _ owner: BridgeHost) {
        guard let light = tag.light, world.options.bridges == 1, let start = owner.process?.startedAt,
            light.since > start
        else { return }
        let rest = light.off - world.now
        guard rest > Self.longestAnswer || rest < .zero - Self.longestAnswer else { return }
        let topic = "tag/\(tag.serial)/led"
        expect(topic, fact(topic)?["state"]?.string, rest > .zero ? "ON" : "OFF")
    }
}
