import Bridge
import JacquardProtocol
import MQTTTypes
import Time

/// Messages on any topic, those of neighbours among them: nothing or one final result for each.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = Input(start, count)
    let now = Timestamp(instant: Instant(sinceBoot: .seconds(3_600)), unixMilliseconds: 1_800_000_000_000)
    let tags = [TagEntry(id: "0001", serial: "0001")]
    var bridge = BridgeState(
        configuration: BridgeConfiguration(instance: "attic", version: "1", tags: tags), boot: "9f3c", startedAt: now)
    var effects = Effects()
    bridge.handle(.started, at: now, &effects)
    var messages = 0
    while !input.isAtEnd {
        let prefix = input.pick([
            "", "jacquard/", "jacquard/tag/", "jacquard/bridge/", "jacquard/bridge/attic/request/",
        ])
        let message = MQTTMessage(topic: prefix + input.text(), payload: input.bytes())
        messages += 1
        bridge.handle(.message(message), at: now, &effects)
    }
    bridge.handle(.stopping, at: now, &effects)
    let finals = results(effects.actions)
    require(finals <= messages, "\(messages) messages have \(finals) final results")
    return 0
}

private func results(_ actions: [BridgeAction]) -> Int {
    actions.count { action in
        guard case .publish(let publication) = action, case .result = publication.kind else { return false }
        return String(decoding: publication.payload, as: UTF8.self).contains(#""final":true"#)
    }
}
