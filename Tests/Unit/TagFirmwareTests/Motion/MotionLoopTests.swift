import JacquardProtocol
import TagFirmware
import Testing

/// Modules, J48: from the command to the bytes and back.
@Suite("J48 modules of a tag")
struct ModuleLoopTests {
    @Test("are listed, loaded and unloaded; the result has the list after the change")
    func change() throws {
        var loop = try SessionLoop()
        guard case .success(.modules(let before)) = loop.perform(.listModules) else {
            Issue.record("no list")
            return
        }
        #expect(before.map(\.isEnabled) == [false])
        guard case .success(.modules(let loaded)) = loop.perform(.changeModule(.activate, named: "IMUModule")) else {
            Issue.record("not loaded")
            return
        }
        #expect(loaded.map(\.isEnabled) == [true])
        guard case .success(.modules(let unloaded)) = loop.perform(.changeModule(.deactivate, named: "3d-0b-e7-53"))
        else {
            Issue.record("not unloaded")
            return
        }
        #expect(unloaded.map(\.isEnabled) == [false])
        guard case .success(.modules([])) = loop.perform(.changeModule(.delete, named: "3d-0b-e7-53")) else {
            Issue.record("not deleted")
            return
        }
    }

    @Test("that the tag does not have are reported by name, and nothing is sent for them")
    func missing() throws {
        var loop = try SessionLoop()
        #expect(loop.perform(.changeModule(.activate, named: "Dance")) == .failure(.moduleMissing("Dance")))
        #expect(loop.requests.last == .listModules())
    }

    @Test("that are active already are not loaded again")
    func active() throws {
        var loop = try SessionLoop()
        _ = loop.perform(.changeModule(.activate, named: "IMUModule"))
        _ = loop.perform(.changeModule(.activate, named: "IMUModule"))
        #expect(loop.requests.count { $0.opcode == .loadModule } == 1)
    }

    @Test("without a notification of the outcome end in a timeout after 10 s")
    func silent() throws {
        var loop = try SessionLoop()
        loop.firmware.faults.losesNotifications = true
        #expect(loop.perform(.changeModule(.activate, named: "IMUModule")) == .failure(.timeout))
    }
}

/// Motion data, J50 to J57: from the command to the bytes and back.
@Suite("J50 to J57 motion data of a tag")
struct MotionLoopTests {
    private static let id = MotionSessionID(session: "run-1")
    private static let rates = MotionRates(accelerometerHertz: 100, gyroscopeHertz: 200) ?? .low

    private func stored(_ samples: Int, _ fault: MotionFault? = nil) throws -> SessionLoop {
        var loop = try SessionLoop()
        try loop.act(.storeSession("run-1", sampleCount: samples))
        loop.firmware.faults.motion = fault
        return loop
    }

    private func list(_ loop: inout SessionLoop) -> [StoredMotionSession] {
        guard case .success(.motionSessions(let sessions, _)) = loop.perform(.motion(.sessions)) else { return [] }
        return sessions
    }

    @Test("J50: the module is loaded before its first use, once")
    func activate() throws {
        var loop = try SessionLoop()
        _ = loop.perform(.motion(.sessions))
        _ = loop.perform(.motion(.sessions))
        #expect(loop.requests.count { $0.opcode == .loadModule } == 1)
    }

    @Test("J50: a tag without the module says so")
    func missing() throws {
        var loop = try SessionLoop()
        _ = loop.perform(.changeModule(.delete, named: "3d-0b-e7-53"))
        #expect(loop.perform(.motion(.record(Self.id, Self.rates))) == .failure(.moduleMissing("IMUModule")))
        #expect(
            loop.perform(.motion(.status))
                == .success(.motionStatus(MotionModuleStatus(module: .missing, status: nil))))
    }

    @Test("J51: a recording checks the state, sets the rates, starts, and is stored at its end")
    func record() throws {
        var loop = try SessionLoop()
        #expect(
            loop.perform(.motion(.record(Self.id, Self.rates)))
                == .success(.motionStatus(MotionModuleStatus(module: .active, status: .logging))))
        #expect(
            loop.requests.suffix(3) == [
                .motionStatus(), .motionRates(Self.rates), .motionStart(MotionMetadata(Self.id, mode: .store)),
            ])
        loop.wait(.seconds(2))
        #expect(
            loop.perform(.motion(.stop))
                == .success(.motionStatus(MotionModuleStatus(module: .active, status: .idle))))
        let sessions = list(&loop)
        #expect(sessions.map(\.id) == [Self.id])
        let file = try MotionFile(parsing: loop.firmware.sessionBytes(0))
        #expect(file.sampleCount == 400)
        #expect(file.configuration.gyroscopeHertz == 200)
    }

    @Test("J51: another state than idle ends the command, and starts nothing")
    func busy() throws {
        var loop = try SessionLoop()
        try loop.act(.motionFault(.status(.lowStorage)))
        #expect(loop.perform(.motion(.record(Self.id, Self.rates))) == .failure(.motionState(.lowStorage)))
        try loop.act(.motionFault(nil))
        try loop.act(.battery(level: 49, isCharging: false))
        #expect(loop.perform(.motion(.record(Self.id, Self.rates))) == .failure(.motionState(.lowBattery)))
        #expect(!loop.requests.contains { $0.opcode == .motionStart && $0.domain == .motion })
    }

    @Test("J51: texts of more than 30 bytes are refused without a byte to the tag")
    func texts() throws {
        var loop = try SessionLoop()
        let count = loop.requests.count
        let long = MotionSessionID(session: String(repeating: "x", count: 31))
        #expect(loop.perform(.motion(.record(long, Self.rates))) == .failure(.invalidParameter))
        #expect(loop.requests.count == count)
    }

    @Test("J52: the state is read without loading the module")
    func status() throws {
        var loop = try SessionLoop()
        #expect(
            loop.perform(.motion(.status))
                == .success(.motionStatus(MotionModuleStatus(module: .inactive, status: nil))))
        #expect(!loop.requests.contains { $0.opcode == .loadModule })
    }

    @Test("J53: lists have all sessions, and may be empty")
    func sessions() throws {
        var loop = try SessionLoop()
        #expect(loop.perform(.motion(.sessions)) == .success(.motionSessions([], isComplete: true)))
        for name in ["a", "b", "c"] { try loop.act(.storeSession(name, sampleCount: 10)) }
        #expect(list(&loop).map(\.id.session) == ["a", "b", "c"])
        #expect(list(&loop).map(\.byteCount) == (0..<3).map { UInt32(loop.firmware.sessionBytes($0).count) })
    }

    @Test("J53: without its end, a list is incomplete after 10 s")
    func incomplete() throws {
        var loop = try SessionLoop()
        for name in ["a", "b"] { try loop.act(.storeSession(name, sampleCount: 10)) }
        try loop.act(.motionFault(.missingSession))
        guard case .success(.motionSessions(let sessions, let isComplete)) = loop.perform(.motion(.sessions)) else {
            Issue.record("no list")
            return
        }
        #expect(sessions.map(\.id.session) == ["a"])
        #expect(!isComplete)
    }

    @Test("J53: of more than 1,000 sessions the rest is left out")
    func manySessions() throws {
        var loop = try SessionLoop()
        for number in 0..<1002 { try loop.act(.storeSession("\(number)", sampleCount: 0)) }
        guard case .success(.motionSessions(let sessions, let isComplete)) = loop.perform(.motion(.sessions)) else {
            Issue.record("no list")
            return
        }
        #expect(sessions.count == 1000)
        #expect(!isComplete)
    }

    @Test("J54: sessions are erased, one or all")
    func erase() throws {
        var loop = try SessionLoop()
        for name in ["a", "b", "c"] { try loop.act(.storeSession(name, sampleCount: 10)) }
        #expect(loop.perform(.motion(.erase(MotionSessionID(session: "b")))) == .success(.done))
        #expect(list(&loop).map(\.id.session) == ["a", "c"])
        #expect(loop.perform(.motion(.erase(nil))) == .success(.done))
        #expect(list(&loop).isEmpty)
    }

    @Test(
        "J55: a download has the session's bytes, with an acknowledgement for each packet",
        arguments: [1, 31, 32, 1699])
    func download(samples: Int) throws {
        var loop = try stored(samples)
        let session = list(&loop)[0]
        #expect(loop.perform(.motion(.download(session.id, offset: 0))) == .success(.done))
        loop.wait(.seconds(1))
        #expect(loop.data == loop.firmware.sessionBytes(0))
        #expect(CRC16.of(loop.data) == session.crc)
        #expect(loop.rawWrites.count == (loop.data.count + 511) / 512)
        #expect(loop.rawWrites.first == [0xC0, 2, 0, 0x41])
    }

    @Test("J55: a packet that is sent twice is acknowledged and dropped")
    func repeated() throws {
        var loop = try stored(200, .repeatedPackets)
        let session = list(&loop)[0]
        _ = loop.perform(.motion(.download(session.id, offset: 0)))
        loop.wait(.seconds(1))
        #expect(loop.data == loop.firmware.sessionBytes(0))
    }

    @Test("J55: a lost acknowledgement makes the tag repeat its packet")
    func lostAcknowledgement() throws {
        var loop = try stored(200)
        let session = list(&loop)[0]
        loop.lostAcknowledgements = 2
        _ = loop.perform(.motion(.download(session.id, offset: 0)))
        loop.wait(.seconds(10))
        #expect(loop.data == loop.firmware.sessionBytes(0))
    }

    @Test("J55: an empty packet ends a download early")
    func empty() throws {
        var loop = try stored(200, .emptyPacket)
        let session = list(&loop)[0]
        _ = loop.perform(.motion(.download(session.id, offset: 0)))
        loop.wait(.seconds(1))
        #expect(loop.events.contains(.motion(.data([]))))
        #expect(loop.data.count < Int(session.byteCount))
    }

    @Test("J55: after a lost link, a download continues at an offset")
    func resume() throws {
        var loop = try stored(1699, .linkLost(at: [9_000]))
        let session = list(&loop)[0]
        _ = loop.perform(.motion(.download(session.id, offset: 0)))
        loop.wait(.seconds(30))
        #expect(loop.isConnected)
        let first = loop.data
        #expect(first.count == 9_000 / 512 * 512)
        _ = loop.perform(.motion(.download(session.id, offset: UInt32(first.count))))
        loop.wait(.seconds(1))
        #expect(loop.data == loop.firmware.sessionBytes(0))
    }

    @Test("J55: data that begins with 0x41 is data, although Android takes it for an acknowledgement")
    func letterA() throws {
        var loop = try SessionLoop()
        try loop.act(.storeSession("run-1", sampleCount: 40))
        _ = list(&loop)
        // 649 bytes leave a last packet; one of a single byte 0x41 must be kept as well.
        loop.firmware.setSessionBytes([UInt8](repeating: 0x41, count: 513))
        let session = list(&loop)[0]
        _ = loop.perform(.motion(.download(session.id, offset: 0)))
        loop.wait(.seconds(1))
        #expect(loop.data == [UInt8](repeating: 0x41, count: 513))
    }

    @Test("J55: a stop ends a download")
    func stopDownload() throws {
        var loop = try stored(200)
        let session = list(&loop)[0]
        loop.lostAcknowledgements = 1
        _ = loop.perform(.motion(.download(session.id, offset: 0)))
        _ = loop.perform(.motion(.stop))
        let count = loop.data.count
        loop.wait(.seconds(20))
        #expect(loop.data.count == count)
    }

    @Test("J57: a stream has the samples of its rate, without a loss, until it is stopped")
    func stream() throws {
        var loop = try SessionLoop()
        #expect(
            loop.perform(.motion(.stream(Self.rates)))
                == .success(.motionStatus(MotionModuleStatus(module: .active, status: .logging))))
        loop.wait(.seconds(10))
        var counter = MotionLossCounter()
        var count = 0
        for case .motion(.samples(let value)) in loop.events {
            value.forEach {
                counter.add($0.ticks)
                count += 1
            }
        }
        #expect((1990...2001).contains(count))
        #expect(counter.lost == 0)
        _ = loop.perform(.motion(.stop))
        let events = loop.events.count
        loop.wait(.seconds(2))
        #expect(loop.events.count == events)
        _ = loop.perform(.motion(.stream(Self.rates)))
        let starts = loop.requests.filter { $0.domain == .motion && $0.opcode == .motionStart }
        #expect(starts.count == 2 && starts[0] != starts[1], "each stream has a text of its own")
    }

    @Test("J57: a stream whose start is not answered is stopped: it would empty the battery")
    func unansweredStream() throws {
        var loop = try SessionLoop()
        _ = loop.perform(.motion(.activate))
        loop.lostRequest = .motionStart
        #expect(loop.perform(.motion(.stream(Self.rates))) == .failure(.timeout))
        loop.wait(.seconds(1))
        #expect(loop.requests.last == .motionStop())
    }

    @Test("J54: commands that wait at once end one after the other")
    func atOnce() throws {
        var loop = try SessionLoop()
        for name in ["a", "b", "c"] { try loop.act(.storeSession(name, sampleCount: 10)) }
        _ = loop.perform(.motion(.activate))
        let tokens = ["a", "b"].map { loop.begin(.motion(.erase(MotionSessionID(session: $0)))) }
        loop.wait(.seconds(1))
        for token in tokens { #expect(loop.events.contains(.commandEnded(token: token, .success(.done)))) }
        #expect(list(&loop).map(\.id.session) == ["c"])
    }

    @Test("the loss of the link ends a command that waits for a notification")
    func linkLost() throws {
        var loop = try SessionLoop()
        loop.firmware.faults.losesNotifications = true
        #expect(loop.perform(.motion(.erase(nil)), within: .seconds(5)) == nil)
        try loop.act(.sleep)
        #expect(loop.events.last == .commandEnded(token: 1, .failure(.linkLost)))
    }
}

/// Raw data, J36 and J37.
@Suite("J36 and J37 raw data of a tag")
struct RawLoopTests {
    @Test("J36: without a request, nothing of raw data is reported")
    func off() throws {
        var loop = try SessionLoop()
        _ = loop.perform(.motion(.stream(.low)))
        loop.wait(.seconds(1))
        #expect(!loop.events.contains { if case .raw = $0 { true } else { false } })
    }

    @Test("J36: the three views are the value, the packet with its sequence, and the payload")
    func views() throws {
        var loop = try SessionLoop()
        try loop.act(.storeSession("a", sampleCount: 1))
        loop.observe([.value, .packet, .payload])
        _ = loop.perform(.motion(.download(MotionSessionID(session: "a"), offset: 100)))
        let rest = Array(loop.firmware.sessionBytes(0).dropFirst(100))
        #expect(loop.events.contains(.raw([0] + rest, view: .packet)))
        #expect(loop.events.contains(.raw(rest, view: .payload)))
        let values = loop.events.filter { if case .raw(_, view: .value) = $0 { true } else { false } }
        #expect(!values.isEmpty)
    }

    @Test("J37: bytes are framed and written, and end when they are written")
    func send() throws {
        var loop = try SessionLoop()
        #expect(loop.perform(.sendRaw([7, 0x41])) == .success(.done))
        #expect(loop.rawWrites == [[0xC0, 2, 7, 0x41]])
        #expect(loop.perform(.sendRaw([UInt8](repeating: 1, count: 100))) == .success(.done))
        #expect(loop.rawWrites.count == 3)
        #expect(loop.perform(.sendRaw([])) == .failure(.invalidParameter))
        #expect(loop.perform(.sendRaw([UInt8](repeating: 1, count: 1025))) == .failure(.invalidParameter))
    }
}
