import BrokerAccess
import EventLoop
import JSON
import MQTTTypes
import Terminal
import TestSupport
import Testing

@testable import BridgeClient
@testable import CommandLine

@Suite("A scan through the bridge")
struct ScanEndTests {
    @Test("that is interrupted stops the bridge's scan, and is no failure")
    func interrupted() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker)
            let accepted = #"{"id":"ID","status":"accepted","final":false}"#
            bridge.answer("bridge/attic/request/scan", [("bridge/attic/response/scan", accepted)])
            let written = Written()
            let interruption = Interruption()
            let context = ClientContext.test(broker.port, written, isJSON: true, interruption: interruption)
            async let code = ClientAction.perform(ScanCommand(duration: .seconds(600)), context)
            try await until("the request") { bridge.requests.count == 1 }
            interruption.fire()
            #expect(await code == .done)
            #expect(written.document["tags"] == [])
            try await until("the stop") { bridge.requests.count == 2 }
            #expect(bridge.requests.last?.payload == Array("stop".utf8))
            await bridge.stop()
        }
    }

    @Test("without advertisements names the connected tags")
    func connectedTags() {
        var report = ScanReport(source: .bridge)
        let advice =
            "No tag was received. To find another tag, touch or move the tag: it stops advertising after 60 seconds."
        #expect(report.lines().map(\.text) == [advice])
        report.connected = ["0001", "003R"]
        #expect(report.lines().map(\.text) == [advice, "Connected tags do not advertise: 0001, 003R."])
        #expect(report.document["connected"] == ["0001", "003R"])
    }

    @Test("that the broker refuses says so, and does not say that no bridge runs")
    func noBroker() async throws {
        try await onLoop {
            let port = try ReservedPort()
            let written = Written()
            let code = await ClientAction.perform(ScanCommand(duration: .seconds(1)), .test(port.number, written))
            #expect(code == .noConnection)
            let errors = written.lines(.standardError)
            #expect(errors.contains { $0.contains("There is no connection to the broker") }, "\(errors)")
            #expect(!errors.contains { $0.contains("no bridge runs") })
        }
    }
}
