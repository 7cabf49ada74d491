import JacquardProtocol
import Testing

@testable import Tags

@Suite("The values of a connection")
struct FactsTests {
    private static func connected() -> TagFacts {
        var facts = TagFacts()
        facts.update(with: .connection(TagConnection(state: .connected, attempt: 1)))
        facts.update(with: .gear(nil))
        facts.update(with: .battery(BatteryStatus(level: 50, isCharging: false)))
        return facts
    }

    @Test("are unknown again when the next connection begins")
    func anew() {
        var facts = Self.connected()
        facts.update(with: .connection(TagConnection(state: .connecting(step: 0), attempt: 2)))
        #expect(facts.battery == nil && !facts.isGearKnown)
        #expect(facts.connection?.state == .connecting(step: 0))
    }

    @Test("stay while one goes on", arguments: [TagConnection.State.connecting(step: 1), .configuring(step: 10)])
    func later(state: TagConnection.State) {
        var facts = Self.connected()
        facts.update(with: .connection(TagConnection(state: state, attempt: 1)))
        #expect(facts.battery != nil && facts.isGearKnown)
    }
}
