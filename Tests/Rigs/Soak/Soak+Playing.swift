import EventLoop
import Glibc
import MQTTTypes
import TestSupport

/// An action that later ends a fault.
enum Remedy {
    case type(String, tag: String)
    case adapterOn
    case blueZBack
    case startBroker
    case freezeBroker(Duration)
    case thawBroker
    case startDaemon
}

/// Small events: of one tag, or commands.
extension Soak {
    private enum Event {
        case gesture, burst, command, bridgeCommand, unknownTag, repeated, retained, battery
        case fault, outOfRange, sleep, detach, attach, lostAnswer
    }

    private static let events: [(Int, Event)] = [
        (200, .gesture), (40, .burst), (120, .command), (12, .bridgeCommand), (4, .unknownTag), (8, .repeated),
        (4, .retained),
        (20, .battery), (3, .fault), (2, .outOfRange), (1, .sleep), (1, .detach), (2, .attach),
    ]

    private var events: [(Int, Event)] {
        switch options.focus {
        case .stop: Self.events + [(240, .command)]
        case .answers: [(10, .lostAnswer), (10, .command), (1, .outOfRange)]
        case .freeze, nil: Self.events
        }
    }

    func play() {
        guard let event = random.pick(events), let tag = options.serials.randomElement(using: &random) else { return }
        let now = ContinuousClock.now
        switch event {
        case .gesture: gesture(tag, count: 1, rate: nil)
        case .burst:
            let isFast = random.happens(percent: 30)
            gesture(
                tag, count: .random(in: 2...200, using: &random),
                rate: isFast ? nil : .random(in: 20...400, using: &random))
        case .command: tagCommand(tag)
        case .bridgeCommand: bridgeCommand()
        case .unknownTag: publish(CommandRow(weight: 1, topic: "jacquard/tag/7ZZZ/led/set", payload: "flash"), tag: nil)
        case .repeated: repeated(tag)
        case .retained: retained(tag)
        case .battery: simulate("battery \(tag) \(Int.random(in: 0...100, using: &random))")
        case .fault: fault(tag, at: now)
        case .lostAnswer: loseAnswer(tag, at: now)
        case .outOfRange: trouble(tag, "out-of-range \(tag)", "in-range \(tag)", within: 0.2...8, at: now)
        case .sleep: trouble(tag, "sleep \(tag)", "button \(tag)", within: 0.1...5, at: now)
        case .detach: trouble(tag, "detach \(tag)", "attach \(tag) \(anyGear())", within: 0.1...4, at: now)
        case .attach:
            unrest(of: tag, at: now)
            simulate("attach \(tag) \(anyGear())")
        }
    }

    private func anyGear() -> String { FaultTable.gear.randomElement(using: &random) ?? "jacket" }

    // MARK: Gestures

    func gesture(_ tag: String, count: Int, rate: Int?) {
        let number = nextNumber
        nextNumber += 1
        gestures.typed(number, tag: tag, count: count, at: .now)
        tags[tag]?.unanswered.append(number)
        let burst = count == 1 ? "" : " \(count)" + (rate.map { " \($0)" } ?? "")
        simulate("gesture \(tag) \(number)\(burst)")
    }

    // MARK: Troubles of a tag

    private func trouble(
        _ tag: String, _ line: String, _ remedy: String, within seconds: ClosedRange<Double>,
        at now: ContinuousClock.Instant
    ) {
        let pause = Duration.seconds(Double.random(in: seconds, using: &random))
        unrest(of: tag, at: now)
        tags[tag]?.openTroubles += 1
        simulate(line)
        later.add(.type(remedy, tag: tag), at: now + pause)
    }

    /// A fault does not always break the link; if it does, the simulator reports it.
    private func fault(_ tag: String, at now: ContinuousClock.Instant) {
        guard let fault = FaultTable.all.randomElement(using: &random) else { return }
        let pause = Duration.seconds(Double.random(in: 1...15, using: &random))
        simulate("fault \(tag) \(fault)")
        tags[tag]?.openTroubles += 1
        // Requests of the session itself may fail too, as may commands; gestures go on.
        troubles.begin(.tag(tag), at: now)
        later.add(.type("fault \(tag) clear", tag: tag), at: now + pause)
    }

    /// The tag changes its mode, and its answer is lost.
    private func loseAnswer(_ tag: String, at now: ContinuousClock.Instant) {
        guard tags[tag]?.openTroubles == 0 else { return }
        trouble(tag, "fault \(tag) drop-response once", "fault \(tag) clear", within: 1...4, at: now)
        tags[tag]?.hazards.insert(.continuous)
        let mode = random.happens(percent: 50) ? "continuous" : "gesture"
        publish(CommandRow(weight: 1, topic: "jacquard/tag/\(tag)/touch_mode/set", payload: mode), tag: tag)
    }

    // MARK: Commands

    private func tagCommand(_ tag: String) {
        guard let row = random.pick(CommandRow.ofTags.map { ($0.weight, $0) }) else { return }
        if let hazard = row.hazard {
            unrest(of: tag, at: .now)
            tags[tag]?.hazards.insert(hazard)
        }
        var addressed = CommandRow(
            weight: 1, topic: "jacquard/tag/\(tag)/\(row.topic)", payload: row.payload, isGood: row.isGood)
        addressed.hazard = row.hazard
        publish(addressed, tag: tag)
    }

    private func bridgeCommand() {
        guard let row = random.pick(CommandRow.ofBridge.map { ($0.weight, $0) }) else { return }
        publish(
            CommandRow(weight: 1, topic: "jacquard/bridge/attic/request/\(row.topic)", payload: row.payload), tag: nil)
    }

    /// The same command twice, with one id: it is carried out once and answered twice.
    private func repeated(_ tag: String) {
        let number = nextCommand
        nextCommand += 1
        let payload = ##"{"id":"c-\##(number)","color":"#0000ff","duration_ms":200}"##
        let topic = "jacquard/tag/\(tag)/led/set"
        enter(number, topic, payload, expected: 2, timeToLive: .seconds(10), isGood: true, tag: tag)
        for _ in 0..<2 {
            reader.publish(MQTTMessage(topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce), number: number)
        }
    }

    /// With the retain flag: refused, and taken back at once so that it is not delivered with the next subscription.
    private func retained(_ tag: String) {
        let number = nextCommand
        nextCommand += 1
        let payload = #"{"id":"c-\#(number)","color":"red"}"#
        let topic = "jacquard/tag/\(tag)/led/set"
        enter(number, topic, payload, expected: 1, timeToLive: .zero, isGood: false, tag: tag)
        var message = MQTTMessage(topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce, isRetained: true)
        reader.publish(message, number: number)
        message.payload = []
        reader.publish(message, number: 0)
        // Taking it back is a command with the retain flag for the bridge, and is answered as one.
        commands.tookBackRetained(on: CommandLedger.resultTopic(of: topic), at: .now)
    }

    /// Publishes a command in one of the forms that a caller may choose.
    private func publish(_ row: CommandRow, tag: String?) {
        let number = nextCommand
        nextCommand += 1
        var payload = row.payload
        var timeToLive = Duration.seconds(10)
        let isObject = payload.hasPrefix("{") && payload.hasSuffix("}")
        let hasID = isObject && random.happens(percent: 70)
        if hasID {
            payload = #"{"id":"c-\#(number)","# + payload.dropFirst()
            if random.happens(percent: 30) {
                let milliseconds = [0, 500, 3000, 30000].randomElement(using: &random) ?? 0
                timeToLive = .milliseconds(milliseconds)
                payload = #"{"ttl_ms":\#(milliseconds),"# + payload.dropFirst()
            }
        }
        var message = MQTTMessage(topic: row.topic, payload: Array(payload.utf8), qos: .atLeastOnce)
        let wantsResponse = random.happens(percent: 30)
        if wantsResponse {
            message.responseTopic = "soak/answer"
            message.correlationData = Array("\(number)".utf8)
        }
        enter(
            number, row.topic, payload, expected: wantsResponse ? 2 : 1, timeToLive: timeToLive,
            isGood: row.isGood && timeToLive > .zero, tag: tag, isAnonymous: !hasID)
        reader.publish(message, number: number)
    }

    private func enter(
        _ number: Int, _ topic: String, _ payload: String, expected: Int, timeToLive: Duration, isGood: Bool,
        tag: String?,
        isAnonymous: Bool = false
    ) {
        note("command \(number) \(topic) \(payload.prefix(100))")
        commands.published(
            CommandLedger.Entry(
                number: number, topic: topic, payload: payload, published: .now, expected: expected,
                timeToLive: timeToLive, isGood: isGood, isAnonymous: isAnonymous, tag: tag))
    }
}
