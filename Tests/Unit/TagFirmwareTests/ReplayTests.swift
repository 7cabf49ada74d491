import GATTRecording
import JacquardProtocol
import Testing
import Time

@testable import TagFirmware

@Suite("Firmware: a replay")
struct ReplayTests {
    private static let battery = Request(
        domain: .base, opcode: .batteryStatus, body: .batteryStatus(BatteryStatusRequest()))
    private static let information = Request(
        domain: .base, opcode: .deviceInfo, body: .deviceInfo(DeviceInfoRequest(component: 0)))

    /// Records of packets, a millisecond apart unless a time is given.
    private static func recording(_ events: [(Int64, TrafficRecord.Event)]) -> TrafficRecording {
        TrafficRecording(
            records: events.enumerated().map {
                TrafficRecord(number: $0 + 1, microseconds: $1.0 * 1_000, event: $1.1)
            })
    }

    private static func write(_ request: Request, id: UInt32) throws -> TrafficRecord.Event {
        .write(try Fragmenter.fragments(of: request.encoded(id: id))[0], on: .command, withResponse: true)
    }

    private static func response(_ response: Response) throws -> TrafficRecord.Event {
        .notified(try Fragmenter.fragments(of: response.encoded())[0], on: .response)
    }

    private static func level(_ level: UInt32) -> Response {
        Response(id: 9, body: .batteryStatus(BatteryStatusReport(BatteryStatus(level: level, isCharging: false))))
    }

    private static func bench(_ recording: TrafficRecording, speed: Double = 1) throws -> Bench {
        var bench = try Bench(isConnected: false)
        bench.firmware.replay = Replay(recording, speed: speed)
        bench.connect()
        return bench
    }

    @Test("answers with what was recorded, with the id of the present request and the recorded delay")
    func answers() throws {
        let recording = Self.recording([
            (0, .connected), (10, try Self.write(Self.battery, id: 9)), (30, try Self.response(Self.level(42))),
        ])
        var bench = try Self.bench(recording)
        for id: UInt32 in [1, 200] {
            bench.forget()
            try bench.send(Self.battery.encoded(id: id))
            bench.wait(.milliseconds(19))
            #expect(bench.responses == [])
            bench.wait(.milliseconds(1))
            var expected = Self.level(42)
            expected.id = id
            #expect(bench.responses == [expected.encoded()])
        }
    }

    @Test("is faster by the given speed")
    func speed() throws {
        let recording = Self.recording([
            (0, .connected), (10, try Self.write(Self.battery, id: 9)), (30, try Self.response(Self.level(42))),
        ])
        var bench = try Self.bench(recording, speed: 10)
        try bench.send(Self.battery.encoded(id: 1))
        bench.wait(.milliseconds(2))
        #expect(bench.responses.count == 1)
    }

    @Test("takes equal requests in the order of the recording, and repeats the last one")
    func order() throws {
        var events: [(Int64, TrafficRecord.Event)] = [(0, .connected)]
        for (index, level) in [1, 2].enumerated() {
            let time = Int64(index + 1) * 100
            events.append((time, try Self.write(Self.battery, id: UInt32(index + 9))))
            var response = Self.level(UInt32(level))
            response.id = UInt32(index + 9)
            events.append((time + 1, try Self.response(response)))
        }
        var bench = try Self.bench(Self.recording(events))
        var levels: [UInt32?] = []
        for _ in 0..<3 {
            bench.forget()
            try bench.send(Self.battery.encoded(id: 1))
            bench.wait(.milliseconds(1))
            let response = try Response.decode(try #require(bench.responses.last)[...])
            if case .batteryStatus(let report)? = response.body { levels.append(report.level) }
        }
        #expect(levels == [1, 2, 2])
    }

    @Test("stays silent where the tag was silent, and is an ordinary tag where the recording has nothing")
    func silence() throws {
        var bench = try Self.bench(Self.recording([(0, .connected), (1, try Self.write(Self.battery, id: 9))]))
        try bench.send(Self.battery.encoded(id: 1))
        bench.wait(.seconds(1))
        #expect(bench.responses == [])
        #expect(try bench.request(Self.information).status == .ok)
        #expect(bench.others.contains(.effect(.unrecorded(Self.information))))
    }

    @Test("sends what the tag has sent on its own once, byte for byte, after the same request")
    func notifications() throws {
        let malformed: [UInt8] = [0xC3, 1]
        let recording = Self.recording([
            (0, .connected), (1, try Self.write(Self.battery, id: 9)), (2, try Self.response(Self.level(3))),
            (50, .notified(malformed, on: .notify)), (60, .notified([1, 2, 3], on: .rawData)),
        ])
        var bench = try Self.bench(recording)
        try bench.send(Self.battery.encoded(id: 1))
        let actions = bench.firmware.timeReached(at: bench.now + .milliseconds(59))
        #expect(
            actions.suffix(2) == [.notify(malformed, on: .notify), .notify([1, 2, 3], on: .rawData)])
        try bench.send(Self.battery.encoded(id: 2))
        #expect(bench.firmware.timeReached(at: bench.now + .seconds(1)).count == 1)
    }

    @Test("sends nothing on a characteristic without a subscription")
    func unsubscribed() throws {
        let recording = Self.recording([(0, .connected), (5, .notified([1], on: .rawData))])
        var bench = try Self.bench(recording)
        bench.firmware.subscribed(.rawData, isOn: false)
        #expect(bench.firmware.timeReached(at: bench.now + .milliseconds(5)) == [])
    }

    @Test("goes on when a command of the recording is not repeated, at the recorded times")
    func missingCommand() throws {
        var late = Self.level(2)
        late.id = 10
        let recording = Self.recording([
            (0, .connected), (10, try Self.write(Self.information, id: 8)),
            (3_000, try Self.write(Self.battery, id: 9)),
            (3_010, try Self.response(Self.level(3))), (5_000, .notified([1], on: .rawData)),
            (9_000, try Self.write(Self.battery, id: 10)),
            (9_010, try Self.response(late)), (12_000, .notified([2], on: .rawData)),
        ])
        var bench = try Self.bench(recording)
        #expect(bench.firmware.deadline == bench.now + .seconds(600))
        try bench.send(Self.information.encoded(id: 1))
        // A second later than recorded.
        #expect(bench.firmware.deadline == bench.now + .milliseconds(3_990))
        bench.wait(.milliseconds(3_990))
        bench.forget()
        #expect(bench.firmware.deadline == bench.now + .milliseconds(1_000))
        #expect(bench.firmware.timeReached(at: bench.now + .seconds(1)) == [.notify([1], on: .rawData)])
        bench.wait(.seconds(6))
        #expect(bench.firmware.timeReached(at: bench.now + .seconds(2)) == [.notify([2], on: .rawData)])
        // A late command is answered all the same.
        try bench.send(Self.battery.encoded(id: 2))
        bench.wait(.seconds(1))
        #expect(bench.responses.count == 1)
    }

    @Test("drops the link where the tag has dropped it, and plays the links in order")
    func links() throws {
        let recording = Self.recording([
            (0, .connected), (1, try Self.write(Self.battery, id: 9)), (20, .disconnected(reason: "lost")),
            (30, .connected), (31, try Self.write(Self.battery, id: 9)), (32, try Self.response(Self.level(5))),
            (40, .disconnected(reason: nil)),
        ])
        var bench = try Self.bench(recording)
        try bench.send(Self.battery.encoded(id: 1))
        bench.wait(.milliseconds(19))
        #expect(bench.others == [.dropLink])
        _ = bench.firmware.disconnected()
        bench.connect()
        try bench.send(Self.battery.encoded(id: 1))
        bench.wait(.seconds(1))
        #expect(bench.responses.count == 1 && bench.others == [.dropLink])
        _ = bench.firmware.disconnected()
        bench.connect()
        bench.forget()
        try bench.send(Self.battery.encoded(id: 1))
        bench.wait(.milliseconds(19))
        #expect(bench.responses == [] && bench.others == [.dropLink])
    }

    @Test("answers a request that this link lacks with the response of another link")
    func otherLinks() throws {
        let recording = Self.recording([
            (0, .connected), (1, try Self.write(Self.information, id: 8)), (5, .disconnected(reason: nil)),
            (10, .connected), (11, try Self.write(Self.battery, id: 9)), (12, try Self.response(Self.level(7))),
            (13, .notified([1], on: .rawData)),
        ])
        var bench = try Self.bench(recording)
        try bench.send(Self.battery.encoded(id: 1))
        let actions = bench.firmware.timeReached(at: bench.now + .seconds(1))
        #expect(actions.count == 1)
        #expect(!bench.others.contains(.effect(.unrecorded(Self.battery))))
    }

    @Test("has the recorded MTU and properties")
    func properties() {
        let recording = Self.recording([
            (0, .connected), (1, .mtu(64)), (2, .characteristics([.command: [.writeWithoutResponse]])),
        ])
        #expect(Replay(recording).mtu == 64 && Replay(recording).allowsWriteWithoutResponseOnly)
        #expect(Replay(Self.recording([])).mtu == nil && !Replay(Self.recording([])).allowsWriteWithoutResponseOnly)
    }

    @Test("is a tag of its own while the recording is empty")
    func empty() throws {
        var bench = try Self.bench(Self.recording([]))
        #expect(try bench.request(Self.information).status == .ok)
    }
}
