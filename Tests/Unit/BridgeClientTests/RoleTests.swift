import Bridge
import BrokerAccess
import EventLoop
import Foundation
import JSON
import Terminal
import TestSupport
import Testing

@testable import BridgeClient
@testable import CommandLine

/// A broker with the access rules of all roles, and a bridge whose tag is connected.
@Suite("Commands of a user who may not read or publish everything")
struct RoleTests {
    private static let facts: [FakeBridge.Publication] = [
        ("bridge/attic/state", "online"), ("bridge/attic/info", #"{"tags":["003R"],"connected":["003R"]}"#),
        ("bridge/attic/adapter", #"[{"id":"hci0","state":"powered_on"}]"#),
        ("bridge/attic/health", #"{"status":"ok","problems":[]}"#),
        ("tag/003R/info", #"{"bridge":"attic"}"#), ("tag/003R/connection", #"{"state":"connected"}"#),
    ]

    /// Performs a command as a user of a role. The user of the fake bridge has all rights.
    private func perform(
        _ command: any ClientCommand, as role: AccessRole, _ check: @Sendable (ExitCode, Written) -> Void
    ) async throws {
        try await onLoop {
            let folder = try ScratchFolder()
            let rules = "topic readwrite #\n" + MosquittoAccessList(AccessTable()).text
            let file = try folder.write("acl.conf", rules)
            let logins = Dictionary(uniqueKeysWithValues: AccessRole.allCases.map { ($0.rawValue, "secret") })
            let passwords = try await folder.writePasswords(logins)
            // The broker gives up its rights before it reads its files.
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
            let broker = try await PrivateBroker(
                options: ["password_file \(passwords)", "acl_file \(file)", "max_queued_messages 1000"])
            let bridge = try await FakeBridge(broker, facts: Self.facts)
            let written = Written()
            let code = await ClientAction.perform(command, .test(broker.port, written, role: role))
            check(code, written)
            await bridge.stop()
        }
    }

    @Test(
        "why does not take for absent what the user may not read",
        arguments: [AccessRole.dashboard, .automation, .homeAssistant])
    func why(role: AccessRole) async throws {
        try await perform(WhyCommand(id: "003R"), as: role) { code, written in
            let lines = written.lines(.standardOutput)
            #expect(code == .done, "\(lines)")
            #expect(lines.contains { $0.hasPrefix("ok       link            connected") })
            let adapter = lines.first { $0.contains(" adapter ") } ?? ""
            #expect(adapter.hasPrefix(role == .automation ? "skipped " : "ok "), "\(adapter)")
            #expect(
                lines.contains {
                    $0.hasSuffix(
                        "log in as a user with the role admin, or allow it to this user in the broker's access control list"
                    )
                })
        }
    }

    @Test("why names the tag that was meant, without asking the bridge")
    func mistyped() async throws {
        try await perform(WhyCommand(id: "003r"), as: .automation) { code, written in
            #expect(code == .failed)
            #expect(
                written.lines(.standardOutput).contains {
                    $0.contains("the bridge has no tag 003r (did you mean 003R?)")
                })
        }
    }

    @Test("a user who may not read the state of the bridge is told so", arguments: ["why", "status", "clear", "led"])
    func replay(name: String) async throws {
        let commands: [String: any ClientCommand] = [
            "why": WhyCommand(id: "003R"), "status": StatusCommand(), "clear": ClearCommand(),
            "led": LEDCommand(tags: TagOperand(["003R"]), light: .off),
        ]
        try await perform(try #require(commands[name]), as: .replay) { code, written in
            #expect(code == (name == "clear" ? .done : .noConnection))
            let lines = written.lines(.standardOutput) + written.lines(.standardError)
            #expect(lines.contains { $0.contains("this user") }, "\(lines)")
        }
    }

    @Test("status says what is not known", arguments: [AccessRole.automation, .dashboard])
    func status(role: AccessRole) async throws {
        try await perform(StatusCommand(), as: role) { code, written in
            #expect(code == .done)
            let isIncomplete = written.lines(.standardOutput).contains { $0.contains("are not known") }
            #expect(isIncomplete == (role == .automation))
        }
    }

    @Test(
        "a refused publication names the roles that may publish it",
        arguments: [
            ("tags", "admin"), ("scan", "admin or homeassistant"), ("led", "automation or admin or homeassistant"),
        ])
    func forbidden(name: String, roles: String) async throws {
        let commands: [String: any ClientCommand] = [
            "tags": TagsCommand(), "scan": ScanCommand(duration: .seconds(1)),
            "led": LEDCommand(tags: TagOperand(["003R"]), light: .off),
        ]
        try await perform(try #require(commands[name]), as: .dashboard) { code, written in
            #expect(code == .failed)
            #expect(
                written.lines(.standardError).last
                    == "hint: log in as a user with the role \(roles), or allow it to this user in the broker's access control list"
            )
        }
    }
}
