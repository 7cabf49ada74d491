import JacquardProtocol
import TagFirmware
import Testing
import Time

@Suite("Firmware: time and faults")
struct FirmwareTimeTests {
    @Test("drops the link after the response to an immediate disconnection")
    func disconnect() throws {
        var bench = try Bench()
        try bench.send([0x08, 0x00, 0x10, 0x1B, 0x18, 0x01, 0xEA, 0x07, 0x04, 0x08, 0x00, 0x10, 0x00])
        #expect(bench.responses == [[0x08, 0x01, 0x10, 0x00, 0x18, 0x00]])
        #expect(bench.others == [.effect(.disconnect(seconds: 0, onlyMovementWakes: false)), .dropLink])
        #expect(bench.firmware.disconnected().count == 1)
    }

    @Test("drops the link after the given seconds, and sleeps if only movement wakes it")
    func disconnectLater() throws {
        var bench = try Bench()
        let body = BLEDisconnectRequest(timeoutSeconds: 30, reconnectOnlyOnWakeOnMotion: true)
        try bench.request(Request(domain: .base, opcode: .requestDisconnect, body: .bleDisconnect(body)))
        bench.others = []
        #expect(bench.firmware.deadline == bench.now + .seconds(30))
        bench.wait(.seconds(29))
        #expect(bench.others.isEmpty)
        bench.wait(.seconds(1))
        #expect(bench.others == [.dropLink])
        #expect(bench.firmware.disconnected().isEmpty)
        #expect(bench.firmware.isAsleep)
    }

    @Test("drops a link after ten idle minutes")
    func idle() throws {
        var bench = try Bench()
        bench.wait(.seconds(300))
        try bench.request(.hello())
        bench.wait(.seconds(599))
        #expect(bench.others.isEmpty)
        #expect(bench.firmware.deadline == bench.now + .seconds(1))
        bench.wait(.seconds(1))
        #expect(bench.others == [.dropLink])
    }

    @Test("sleeps after ten idle minutes and after a minute of advertising, if it does so by itself")
    func sleepsByItself() throws {
        var bench = try Bench()
        bench.firmware.sleepsByItself = true
        bench.wait(.seconds(600))
        #expect(bench.others == [.dropLink])
        #expect(bench.firmware.disconnected().isEmpty)
        #expect(bench.firmware.isAsleep)
        bench.firmware.limitAdvertising(at: bench.now)
        #expect(bench.firmware.deadline == nil)
        let woken = try bench.firmware.execute(.move)
        #expect(woken == [.advertise(bench.firmware.advertisement)])
        bench.firmware.limitAdvertising(at: bench.now)
        #expect(bench.firmware.deadline == bench.now + Firmware.advertisingLimit)
        bench.forget()
        bench.wait(.seconds(59))
        #expect(bench.others.isEmpty)
        bench.wait(.seconds(1))
        #expect(bench.others == [.advertise(nil)])
        #expect(bench.firmware.isAsleep)
    }

    @Test("has no deadline without a connection")
    func noDeadline() throws {
        let bench = try Bench(isConnected: false)
        #expect(bench.firmware.deadline == nil)
    }

    /// The client's answers to hello with a fault: the ids and statuses of the readable ones.
    static let spoiled: [(FirmwareFaults.AnswerFault, [UInt32], [UInt32])] = [
        (.drop, [], []), (.hang, [], []), (.malformed, [], []), (.truncated, [], []), (.lostFragment, [], []),
        (.double, [1, 1], [0, 0]), (.wrongID, [2], [0]), (.status(15), [1], [15]), (.noBody, [1], [0]),
    ]

    @Test("changes its responses as configured", arguments: spoiled)
    func spoils(fault: FirmwareFaults.AnswerFault, ids: [UInt32], statuses: [UInt32]) throws {
        var bench = try Bench()
        bench.firmware.faults.answer = fault
        try bench.send(Request.hello().encoded(id: 1))
        let answers = bench.responses.compactMap { try? Response.decode($0[...]) }
        #expect(answers.map(\.id) == ids)
        #expect(answers.map(\.status.rawValue) == statuses)
        if fault == .noBody { #expect(answers.allSatisfy { $0.body == nil }) }
    }

    @Test("responds late, and in time again after the fault")
    func delay() throws {
        var bench = try Bench()
        bench.firmware.faults.answer = .delay(.milliseconds(700))
        bench.firmware.faults.isOnce = true
        try bench.send(Request.hello().encoded(id: 1))
        #expect(bench.responses.isEmpty)
        try bench.send(Request.hello().encoded(id: 2))
        #expect(bench.responses.count == 1)
        bench.wait(.milliseconds(700))
        let ids = try bench.responses.map { try Response.decode($0[...]).id }
        #expect(ids == [2, 1])
    }

    @Test("executes a request whose response is dropped, and none on which it hangs")
    func effect() throws {
        var bench = try Bench()
        bench.firmware.faults.answer = .drop
        try bench.send(Request.playLEDOnTag(.haltAll).encoded(id: 1))
        #expect(bench.others == [.effect(.led(.haltAll, on: .tag))])
        bench.firmware.faults.answer = .hang
        try bench.send(Request.playLEDOnTag(.haltAll).encoded(id: 2))
        #expect(bench.others.count == 1)
    }
}
