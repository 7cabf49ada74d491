import BrokerAccess
import EventLoop
import JSON
import MQTT
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
}
