import Bridge
import JacquardProtocol
import MQTTTypes
import Time

/// Commands of any kind and bytes, while tags come and go: each gets exactly one final result, at the latest when the
/// bridge stops.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var play = BridgePlay(Input(start, count))
    play.run()
    return 0
}

private struct BridgePlay: ~Copyable {
    private var input: Input
    private var bridge: BridgeState
    private var now = Timestamp(instant: Instant(sinceBoot: .seconds(3_600)), unixMilliseconds: 1_800_000_000_000)
    private var unanswered = 0
    /// The actions of the bridge that have no result yet.
    private var pendingActions: [BridgeAction] = []
    private static let ids = ["0001", "sleeve"].compactMap { TagID($0) }

    init(_ input: Input) {
        self.input = input
        let tags = Self.ids.map { TagEntry(id: $0, serial: $0.text, connect: $0.text == "0001" ? .always : .onDemand) }
        bridge = BridgeState(
            configuration: BridgeConfiguration(instance: "attic", version: "1", tags: tags), boot: "9f3c",
            startedAt: now)
    }

    mutating func run() {
        handle(.started)
        while !input.isAtEnd { step() }
        handle(.stopping)
        require(unanswered == 0, "\(unanswered) commands have no final result")
    }

    private mutating func handle(_ event: BridgeEvent) {
        var effects = Effects()
        bridge.handle(event, at: now, &effects)
        take(effects.actions)
    }

    private mutating func step() {
        let id = input.pick(Self.ids)
        let tag = bridge.handle(of: id) ?? .none
        switch input.byte() % 12 {
        case 0:
            handle(.tag(tag, .connection(TagConnection(state: input.pick(Self.states), attempt: 1))))
        case 1: handle(.tag(tag, .gesture(Gesture(rawValue: UInt32(input.byte())))))
        case 2:
            handle(.tag(tag, .battery(BatteryStatus(level: UInt32(input.byte()), isCharging: true))))
        case 3: now = now + .milliseconds(Int(input.byte()) * 100)
        case 4:
            if let deadline = bridge.deadline, deadline > now.instant {
                now = now + (deadline - now.instant)
            }
            handle(.deadlineReached)
        case 5, 6: endAction()
        case 7: handle(.scanEnded)
        default: command(id)
        }
    }

    private static let states: [TagConnection.State] = [
        .preparingToConnect, .connecting(step: 1), .connected, .connected, .disconnected,
    ]

    private mutating func command(_ id: TagID) {
        let names = [
            "led/set", "haptic/set", "name/set", "touch_mode/set", "battery/get", "rssi/get", "info/get", "config/get",
            "config/set", "connection/set", "sleep/set", "dance/set",
        ]
        let requests = ["scan", "pair", "forget", "tags", "health", "log_level", "doctor", "log", "refresh", "dance"]
        let topic =
            switch input.byte() % 4 {
            case 0: "jacquard/bridge/attic/request/" + input.pick(requests)
            case 1: "jacquard/tag/7ZZZ/" + input.pick(names)
            default: "jacquard/tag/\(id)/" + input.pick(names)
            }
        unanswered += 1
        handle(.message(MQTTMessage(topic: topic, payload: input.bytes(), isRetained: input.byte() % 16 == 0)))
    }

    private mutating func endAction() {
        guard !pendingActions.isEmpty else { return }
        switch pendingActions.remove(at: Int(input.byte()) % pendingActions.count) {
        case .perform(_, on: let tag, let token, _):
            let results: [Result<TagCommandResponse, TagCommandError>] = [
                .success(.done), .success(.battery(BatteryStatus(level: 7, isCharging: false))),
                .success(.configValue(nil)), .failure(.timeout), .failure(.linkLost),
                .failure(.malformedResponse),
            ]
            handle(.tag(tag, .commandEnded(token: token, input.pick(results))))
        case .scan(_, let token), .stopScan(let token), .forget(_, let token): end(token, .done)
        case .pair(_, _, _, _, _, let token): end(token, .paired(address: "F0:00:00:00:00:09", name: nil))
        case .measure(let token):
            end(token, .measured(HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)))
        case .examine(let token): end(token, .examined(HostReport(findings: [])))
        default: break
        }
    }

    private mutating func end(_ token: UInt64, _ answer: RequestResponse) {
        let results: [Result<RequestResponse, RequestError>] = [
            .success(answer), .success(.done), .failure(.timeout(text: "no response")), .failure(.notFound),
        ]
        handle(.requestEnded(token: token, input.pick(results)))
    }

    private mutating func take(_ actions: [BridgeAction]) {
        for action in actions {
            switch action {
            case .publish(let publication): published(publication)
            case .perform, .scan, .stopScan, .pair, .forget, .measure, .examine: pendingActions.append(action)
            default: break
            }
        }
    }

    private mutating func published(_ publication: Publication) {
        guard case .result = publication.kind else { return }
        // Keys are sorted and values escaped, so the text is found nowhere else.
        guard String(decoding: publication.payload, as: UTF8.self).contains(#""final":true"#) else { return }
        unanswered -= 1
        require(unanswered >= 0, "a final result without a command: \(publication.topic)")
    }
}
