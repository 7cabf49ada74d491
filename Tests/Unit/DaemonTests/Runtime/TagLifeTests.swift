import Bridge
import JacquardProtocol
import Logging
import Testing
import Time

@testable import Daemon

@Suite("Life of a tag in the log")
struct TagLifeTests {
    /// Events and what is logged about them, as a transcript.
    private struct Transcript {
        private var life = TagLife()
        private let tag = TagHandle(number: 1)
        private var now = Instant(sinceBoot: .seconds(100))

        mutating func wait(_ duration: Duration) { now += duration }

        mutating func forget() { life.remove(tag) }

        /// The line of a record, `!` in front of a change of state; empty for none.
        mutating func take(_ event: TagEvent) -> String {
            guard let record = life.take(event, of: tag, at: now) else { return "" }
            let variables = record.variables.map { " \($0.key.name)=\($0.value)" }.joined()
            return (record.isChange ? "!" : "") + "\(record.message)" + variables
        }

        mutating func state(
            _ state: TagConnection.State, attempt: Int = 1, _ error: TagConnectionError? = nil, retryIn: Duration? = nil
        ) -> String {
            take(
                .connection(
                    TagConnection(state: state, attempt: attempt, error: error, retryAt: retryIn.map { now + $0 })))
        }
    }

    private static let lost = TagConnectionError(.bluetoothConnectionError, "the link was lost")

    @Test("starts with one line that has the time to connect")
    func connected() throws {
        var tag = Transcript()
        #expect(tag.state(.preparingToConnect) == "")
        tag.wait(.milliseconds(700))
        #expect(tag.state(.connecting(step: 0)) == "")
        #expect(tag.state(.initializing(step: 5)) == "")
        #expect(tag.state(.configuring(step: 10)) == "")
        tag.wait(.milliseconds(112))
        #expect(tag.state(.connected) == "!connected after_ms=812 attempt=1")
        #expect(tag.state(.connected) == "", "it is connected already")
    }

    @Test("reports a loss with its reason, each attempt with its number, and the time until it was back")
    func lost() throws {
        var tag = Transcript()
        _ = tag.state(.preparingToConnect)
        _ = tag.state(.connected)
        let loss = tag.state(.preparingToConnect, attempt: 1, Self.lost, retryIn: .milliseconds(500))
        #expect(
            loss
                == "!connection lost code=bluetooth_connection_error error=the link was lost attempt=1 retry_in_ms=500"
        )
        tag.wait(.milliseconds(500))
        #expect(tag.state(.connecting(step: 0), attempt: 2) == "retrying attempt=2")
        #expect(tag.state(.initializing(step: 5), attempt: 2) == "", "one line for each attempt")
        let error = TagConnectionError(.connectionTimeout, "no answer", stackName: "org.bluez.Error.Failed")
        #expect(tag.state(.preparingToConnect, attempt: 3, error) == "", "the link is being disconnected")
        let failure = tag.state(.preparingToConnect, attempt: 3, error, retryIn: .seconds(1))
        #expect(
            failure == "connection failed code=connection_timeout error=no answer reason=org.bluez.Error.Failed"
                + " attempt=3 retry_in_ms=1000")
        #expect(tag.state(.preparingToConnect, attempt: 3, error) == "", "the next attempt begins")
        #expect(tag.state(.connecting(step: 0), attempt: 3) == "retrying attempt=3")
        tag.wait(.seconds(4))
        #expect(tag.state(.connected, attempt: 3) == "!connected after_ms=4500 attempt=3")
        _ = tag.state(.preparingToConnect, attempt: 1, Self.lost)
        #expect(tag.state(.connecting(step: 0), attempt: 3) == "retrying attempt=3", "after another loss")
    }

    @Test("ends with a line for a requested disconnection of a connected tag, and without one before that")
    func disconnected() throws {
        var tag = Transcript()
        _ = tag.state(.preparingToConnect)
        #expect(tag.state(.disconnected) == "")
        _ = tag.state(.connected)
        #expect(tag.state(.disconnected) == "!disconnected")
        #expect(
            tag.state(.disconnected, attempt: 1, TagConnectionError(.peerRemovedPairingInfo, "the bond is lost"))
                == "!disconnected code=peer_removed_pairing_info error=the bond is lost")
    }

    @Test("reports an attempt that is followed by the next one at once")
    func notFound() throws {
        var tag = Transcript()
        let error = TagConnectionError(.connectionTimeout, "no connection within 60 s")
        _ = tag.state(.preparingToConnect)
        for attempt in 2...3 {
            #expect(
                tag.state(.preparingToConnect, attempt: attempt, error)
                    == "connection failed code=connection_timeout error=no connection within 60 s attempt=\(attempt)")
        }
    }

    @Test("reports no pause before an attempt whose time has come")
    func overdue() {
        var tag = Transcript()
        _ = tag.state(.preparingToConnect)
        let line = tag.state(.preparingToConnect, attempt: 2, Self.lost, retryIn: .seconds(-1))
        #expect(line.hasSuffix("attempt=2 retry_in_ms=0"))
    }

    @Test("has no line for each tag when Bluetooth is off")
    func bluetoothOff() throws {
        var tag = Transcript()
        let error = TagConnectionError(.bluetoothPowerOff, "Bluetooth is off")
        #expect(tag.state(.disconnected, attempt: 1, error) == "")
        _ = tag.state(.connected)
        #expect(
            tag.state(.disconnected, attempt: 1, error)
                == "!disconnected code=bluetooth_power_off error=Bluetooth is off", "it was connected until now")
    }

    @Test("reports gear when it is attached and detached, not when its details change or the link is new")
    func gear() throws {
        var tag = Transcript()
        var gear = Component(
            componentID: 1, vendor: Component.Name(id: JacquardIdentifier(rawValue: 1), name: "Levi's"),
            product: Component.Name(id: JacquardIdentifier(rawValue: 2), name: ""), capabilities: [])
        #expect(tag.take(.gear(nil)) == "")
        #expect(tag.take(.gear(gear)) == "gear attached gear=Levi's 00-00-00-02")
        gear.uuid = "later"
        #expect(tag.take(.gear(gear)) == "")
        #expect(tag.take(.gear(nil)) == "gear detached gear=Levi's 00-00-00-02")
        #expect(tag.take(.gear(nil)) == "")
    }

    @Test(
        "has no time to connect for a tag that was added while it was connected, and restarts when the tag was removed")
    func added() {
        var tag = Transcript()
        #expect(tag.state(.connected) == "!connected attempt=1")
        tag.forget()
        #expect(tag.state(.preparingToConnect) == "")
        #expect(tag.state(.connected) == "!connected after_ms=0 attempt=1")
    }

    @Test("has a few lines for many attempts")
    func calm() throws {
        let sink = MemorySink()
        let log = Logger("tag", to: CalmSink(sink, now: { Instant(sinceBoot: .seconds(100)) }))
        var life = TagLife()
        let tag = TagHandle(number: 1)
        for attempt in 1...1000 {
            for state in [TagConnection.State.preparingToConnect, .connecting(step: 0)] {
                let error = state == .preparingToConnect ? Self.lost : nil
                let connection = TagConnection(
                    state: state, attempt: attempt, error: error, retryAt: error.map { _ in Instant(sinceBoot: .zero) })
                guard let record = life.take(.connection(connection), of: tag, at: Instant(sinceBoot: .zero)) else {
                    continue
                }
                log.info(record.message, record.variables)
            }
        }
        #expect(sink.records.map(\.message) == ["connection failed", "retrying"])
    }
}
