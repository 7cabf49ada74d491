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

    @Test("are unknown, and the tag is stopped, before a connection was requested")
    func never() {
        let facts = TagFacts()
        #expect(facts.isStopped && !facts.isLinked && !facts.isGearKnown && facts.events.isEmpty)
    }

    @Test("are reported again in the order of a new connection, the touch mode only while gear is attached")
    func events() {
        var facts = Self.connected()
        let name = Component.Name(id: JacquardIdentifier(rawValue: 1), name: "Jacket")
        let gear = Component(componentID: 101, vendor: name, product: name, capabilities: [])
        facts.update(with: .gear(gear))
        facts.update(with: .touchMode(.continuous))
        #expect(facts.gear == gear)
        #expect(facts.events.map(Self.kind) == ["connection", "battery", "gear", "touchMode"])
        facts.update(with: .gear(nil))
        #expect(facts.gear == nil)
        #expect(facts.events.map(Self.kind) == ["connection", "battery", "gear"])
    }

    private static func kind(_ event: TagEvent) -> String { String("\(event)".prefix { $0 != "(" }) }

    @Test("stay while one goes on", arguments: [TagConnection.State.connecting(step: 1), .configuring(step: 10)])
    func later(state: TagConnection.State) {
        var facts = Self.connected()
        facts.update(with: .connection(TagConnection(state: state, attempt: 1)))
        #expect(facts.battery != nil && facts.isGearKnown)
    }
}
