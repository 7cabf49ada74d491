import JSON
import JacquardProtocol
import Testing

@testable import GATTRecording

@Suite("The summary of a recording")
struct TrafficSummaryTests {
    @Test("has MTU, times, and the limits of the connection interval")
    func facts() throws {
        var tag = RecordedTag()
        tag.add(.connected)
        tag.add(.mtu(64))
        tag.add(.characteristics([.command: [.writeWithoutResponse]]))
        try tag.request(RecordedTag.information, id: 1)
        try tag.respond(Response(id: 1), after: 30_000)
        var ble = BLEConfiguration()
        (ble.minimumConnectionInterval, ble.maximumConnectionInterval) = (6, 400)
        try tag.request(
            Request(domain: .base, opcode: .configWrite, body: .configWrite(TagConfiguration())), id: 2)
        try tag.respond(Response(id: 2, body: .config(TagConfiguration(ble: ble))), after: 50_000)
        let summary = TrafficSummary(tag.recording)
        #expect(summary.links == 1 && summary.mtu == 64 && summary.connectionInterval == 6...400)
        #expect(summary.responseTimes?.longest == 50_000 && summary.responseTimes?.median == 50_000)
        #expect(summary.unanswered == [] && summary.refused == [] && summary.unknown == [:])
        #expect(summary.undecodable == 0)
        #expect(summary.properties == [.command: [.writeWithoutResponse]])
        #expect(summary.document["mtu"] == 64)
    }

    @Test("lists what is unanswered, refused, unknown and undecodable")
    func deviations() throws {
        var tag = RecordedTag()
        tag.add(.connected)
        try tag.request(RecordedTag.battery, id: 1)
        try tag.request(RecordedTag.information, id: 2)
        try tag.respond(Response(id: 2, status: .unsupported))
        try tag.respond(Response(id: 99))
        try tag.notify(Notification(domain: Domain(rawValue: 7), opcode: Opcode(rawValue: 99)))
        try tag.notify(Notification(domain: Domain(rawValue: 7), opcode: Opcode(rawValue: 99)))
        try tag.notify(.batteryStatus(BatteryStatus(level: 1, isCharging: false)))
        tag.add(.notified([0xC3, 1], on: .notify))
        tag.add(.notified([0xC1, 0xFF], on: .response))
        tag.add(.writeFailed(reason: "org.bluez.Error.NotPermitted: Write not permitted"))
        tag.add(.disconnected(reason: "lost"), after: TrafficSummary.responseLimit)
        let summary = TrafficSummary(tag.recording)
        #expect(summary.unanswered == ["battery_status"])
        #expect(summary.refused == ["device_info (ERROR_UNSUPPORTED)"])
        #expect(summary.unknown == ["notification domain 7 opcode 99": 2, "response without a request": 1])
        #expect(summary.undecodable == 2 && summary.notifications == ["battery_status": 1])
        #expect(summary.losses == ["lost"])
        #expect(summary.failedWrites == ["org.bluez.Error.NotPermitted: Write not permitted"])
    }

    @Test("matches responses to requests of the same link")
    func links() throws {
        var tag = RecordedTag()
        tag.add(.connected)
        try tag.request(RecordedTag.battery, id: 1)
        tag.add(.disconnected(reason: nil), after: TrafficSummary.responseLimit)
        tag.add(.connected)
        try tag.respond(Response(id: 1))
        let summary = TrafficSummary(tag.recording)
        #expect(summary.unanswered == ["battery_status"] && summary.links == 2)
        #expect(summary.unknown == ["response without a request": 1])
        #expect(summary.losses == [])
    }

    @Test("counts neither a request at the end of a link, nor a link that the tag was requested to drop")
    func ends() throws {
        var tag = RecordedTag()
        tag.add(.connected)
        try tag.request(RecordedTag.battery, id: 1)
        tag.add(.disconnected(reason: nil), after: TrafficSummary.responseLimit - 1)
        tag.add(.connected)
        try tag.request(
            Request(domain: .base, opcode: .requestDisconnect, body: .bleDisconnect(BLEDisconnectRequest())), id: 2)
        try tag.respond(Response(id: 2))
        tag.add(.disconnected(reason: "dropped by the tag"))
        tag.add(.connected)
        try tag.request(RecordedTag.battery, id: 3)
        let summary = TrafficSummary(tag.recording)
        #expect(summary.unanswered == [] && summary.losses == [])
    }
}
