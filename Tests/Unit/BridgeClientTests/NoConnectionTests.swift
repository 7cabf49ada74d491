import Bridge
import BrokerAccess
import EventLoop
import Glibc
import JSON
import Logging
import Terminal
import TestSupport
import Testing

@testable import BridgeClient
@testable import CommandLine
@testable import Configuration

@Suite("Commands without a connection")
struct NoConnectionTests {
    private static let flash = LEDCommand(tags: TagOperand(["0001"]), light: .flash)

    @Test("exit with 3 and report whether broker or bridge is missing", arguments: [nil, "offline"])
    func bridge(state: String?) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker, facts: state.map { [("bridge/attic/state", $0)] } ?? [])
            let written = Written()
            let code = await ClientAction.perform(Self.flash, .test(broker.port, written, isJSON: true))
            #expect(code == .noConnection)
            #expect(written.document["error"]?["code"] == .string(state == nil ? "bridge_unknown" : "bridge_offline"))
            #expect(bridge.requests.isEmpty)
            await bridge.stop()
        }
    }

    @Test("exit with 3 if no server listens at the broker's address")
    func broker() async throws {
        try await onLoop {
            let written = Written()
            let nobody = try ReservedPort()
            #expect(
                await ClientAction.perform(StatusCommand(), .test(nobody.number, written, isJSON: true))
                    == .noConnection)
            #expect(written.document["error"]?["code"] == "unreachable")
            #expect(written.lines(.standardError).last == "hint: jacquard2mqtt doctor")
        }
    }

    @Test(
        "report what they wait for after a second, and exit with 3 if the broker does not answer",
        arguments: [false, true])
    func frozenBroker(isJSON: Bool) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            broker.daemon.signal(SIGSTOP)
            defer { broker.daemon.signal(SIGCONT) }
            let written = Written()
            #expect(
                await ClientAction.perform(StatusCommand(), .test(broker.port, written, isJSON: isJSON))
                    == .noConnection)
            #expect(written.lines(.standardError).first == "connecting to the broker ...")
            #expect(written.lines(.standardOutput).isEmpty != isJSON)
        }
    }

    @Test("exit with 3 if the broker rejects the user")
    func login() async throws {
        try await onLoop {
            let broker = try await PrivateBroker(options: ["allow_anonymous false"])
            let written = Written()
            let code = await ClientAction.perform(TagsCommand(), .test(broker.port, written, isJSON: true))
            #expect(code == .noConnection)
            #expect(written.document["error"]?["code"] == "not_authorized")
        }
    }

    @Test("time out if an online bridge does not answer")
    func silent() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker)
            let context = ClientContext.test(broker.port, Written())
            var request = ClientRequest(verb: "tags", [:], BridgeTopics(context.configuration))
            request.firstAnswer = .milliseconds(50)
            let asked = request
            let progress = Progress(context.printer)
            let error = await #expect(throws: ClientFailure.self) {
                try await context.withSession { session throws(ClientFailure) in try await session.ask(asked, progress)
                }
            }
            #expect(error?.code == "no_answer")
            #expect(error?.exitCode == .noConnection)
            await bridge.stop()
        }
    }

    @Test(
        "name the bridge of the tag if that does not answer",
        arguments: [("online", "no_answer"), ("offline", "bridge_offline")])
    func silentForTag(state: String, code: String) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(
                broker,
                facts: [
                    ("bridge/attic/state", "online"), ("bridge/cellar/state", state),
                    ("bridge/cellar/info", #"{"tags":["0001"]}"#),
                ])
            let context = ClientContext.test(broker.port, Written())
            for (tag, code, name) in [("0001", code, "cellar"), ("0002", "no_answer", "attic")] {
                var request = ClientRequest("led", of: tag, [:], BridgeTopics(context.configuration))
                request.firstAnswer = .milliseconds(50)
                let asked = request
                let progress = Progress(context.printer)
                let error = await #expect(throws: ClientFailure.self) {
                    try await context.withSession { session throws(ClientFailure) in
                        try await session.ask(asked, progress)
                    }
                }
                #expect(error?.code == code && error?.text.contains(name) == true, "\(tag): \(error?.text ?? "")")
            }
            await bridge.stop()
        }
    }

    @Test("scan with the machine's own adapter, and report both errors without one")
    func scan() async throws {
        try await onLoop {
            let written = Written()
            let nobody = try ReservedPort()
            let request = ScanCommand(duration: .seconds(1))
            #expect(await ClientAction.perform(request, .test(nobody.number, written)) == .noConnection)
            let text = written.lines(.standardError).first { $0.hasPrefix("jacquard2mqtt:") } ?? ""
            #expect(text.contains("no connection to the broker"))
            #expect(text.contains("the system bus cannot be reached: ") && text.contains("/nonexistent"))
        }
    }
}
