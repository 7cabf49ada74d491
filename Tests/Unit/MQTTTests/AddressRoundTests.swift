import Testing

@testable import MQTT

@Suite("Address round")
struct AddressRoundTests {
    private let refused = MQTTError(.unreachable, "Connection refused")
    private let overdue = MQTTError(.unreachable, "no answer in time")

    @Test("tries each address of the lookup once, in order")
    func eachOnce() {
        var round = AddressRound()
        #expect(round.begin() == .lookup(last: []))
        round.found(["a", "b", "c"])
        #expect(round.failed(refused, isOverdue: false) == .address("b"))
        // What a connection to one address reports is no other lookup.
        round.found(["b"])
        #expect(round.failed(refused, isOverdue: false) == .address("c"))
        #expect(round.failed(refused, isOverdue: false) == nil)
        #expect(round.failures.map(\.address) == ["a", "b", "c"])
        #expect(round.begin() == .lookup(last: []))
        #expect(round.failures.isEmpty && round.current == nil)
    }

    @Test("has none before the lookup has ended")
    func failedLookup() {
        var round = AddressRound()
        _ = round.begin()
        #expect(round.failed(MQTTError(.nameNotResolved, ""), isOverdue: false) == nil)
        #expect(round.failures.isEmpty)
    }

    @Test(
        "goes on to the next address unless another one would fail alike",
        arguments: [
            (MQTTError.Code.unreachable, true), (.connectionLost, true), (.tls, true), (.certificateExpired, true),
            (.serverUnavailable, true), (.badUserNameOrPassword, false), (.notAuthorized, false), (.stopped, false),
            (.unsupportedProtocolVersion, false), (.sessionRefused, false), (.invalidConfiguration, false),
        ])
    func nextAddress(code: MQTTError.Code, goesOn: Bool) {
        var round = AddressRound()
        _ = round.begin()
        round.found(["a", "b"])
        #expect(round.failed(MQTTError(code, ""), isOverdue: false) == (goesOn ? .address("b") : nil))
    }

    @Test("tries one in its order again that refuses at once")
    func refusesAtOnce() {
        var round = AddressRound()
        _ = round.begin()
        round.found(["a", "b"])
        _ = round.failed(overdue, isOverdue: true)
        #expect(round.begin() == .lookup(last: ["a"]))
        round.found(["b", "a"])
        _ = round.failed(refused, isOverdue: false)
        _ = round.failed(refused, isOverdue: false)
        #expect(round.begin() == .lookup(last: []))
    }

    @Test("tries those last that did not answer in time, until they do")
    func slow() {
        var round = AddressRound()
        _ = round.begin()
        round.found(["a", "b", "c"])
        _ = round.failed(overdue, isOverdue: true)
        _ = round.failed(MQTTError(.timeout, "silent"), isOverdue: false)
        #expect(round.begin() == .lookup(last: ["a", "b"]))
        #expect(AddressRound.ordered(["a", "b", "c"], last: ["a", "b"]) == ["c", "a", "b"])
        round.found(["c", "a", "b"])
        _ = round.failed(refused, isOverdue: false)
        round.accepted()
        #expect(round.begin() == .lookup(last: ["b"]))
        // An answer that has other addresses.
        #expect(AddressRound.ordered(["d", "b"], last: ["a", "b"]) == ["d", "b"])
    }

    @Test("remembers a limited number of them")
    func bounded() {
        var round = AddressRound()
        for number in 0..<100 {
            _ = round.begin()
            round.found(["\(number)"])
            _ = round.failed(overdue, isOverdue: true)
        }
        #expect(round.begin() == .lookup(last: (84..<100).map(String.init)))
    }

    @Test("names the addresses with each cause, and reports the error that got furthest")
    func error() {
        var round = AddressRound()
        _ = round.begin()
        round.found(["10.1.0.2", "10.1.0.3", "10.1.0.4"])
        _ = round.failed(refused, isOverdue: false)
        _ = round.failed(MQTTError(.connectionLost, "closed"), isOverdue: false)
        _ = round.failed(refused, isOverdue: false)
        let error = round.error(refused)
        #expect(error.code == .connectionLost)
        #expect(error.text == "Connection refused (10.1.0.2, 10.1.0.4); closed (10.1.0.3)")
    }

    @Test("leaves the error of an only address as it is")
    func onlyAddress() {
        var round = AddressRound()
        _ = round.begin()
        round.found(["127.0.0.1"])
        _ = round.failed(refused, isOverdue: false)
        #expect(round.error(refused) == refused)
    }
}
