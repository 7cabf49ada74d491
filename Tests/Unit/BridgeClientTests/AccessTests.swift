import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import Foundation
import JSON
import Terminal
import TestSupport
import Testing

@testable import BridgeClient
@testable import Configuration

@Suite("acl mosquitto")
struct AccessListTests {
    private func printed(
        _ role: AccessRole? = nil, _ user: String? = nil, isJSON: Bool = false, environment: [String: String] = [:]
    ) -> Written {
        let written = Written()
        let action = AccessListAction(options: ClientOptions(isJSON: isJSON), role: role, user: user)
        let code = action.run(
            environment: environment, defaultPath: "/nonexistent/config.yaml", printer: written.printer(isJSON: isJSON))
        #expect(code == .done)
        return written
    }

    @Test("prints config/mosquitto/acl.conf, byte for byte")
    func delivered() throws {
        let text = printed().lines(.standardOutput).map { $0 + "\n" }.joined()
        #expect(try GeneratedFile.text(of: "config/mosquitto/acl.conf", generated: text) == text, GeneratedFile.remedy)
    }

    @Test("prints the rules of one user for the topics of the configuration")
    func oneUser() {
        let written = printed(.dashboard, "grafana", environment: ["JACQUARD2MQTT_MQTT__BASE_TOPIC": "home/jacquard"])
        #expect(
            written.lines(.standardOutput) == [
                "# A dashboard, such as Grafana or Telegraf.", "user grafana", "topic read home/jacquard/#",
            ])
    }

    @Test(
        "prints no rules for replays onto the topics of the bridge or of Home Assistant",
        arguments: ["jacquard", "homeassistant/x"])
    func overlap(base: String) {
        let written = Written()
        let action = AccessListAction(options: ClientOptions(), role: .replay, user: nil, replayBase: base)
        let printer = written.printer(isJSON: false)
        #expect(action.run(environment: [:], defaultPath: "/nonexistent/config.yaml", printer: printer) == .wrongUsage)
        #expect(written.lines(.standardOutput).isEmpty)
        #expect(written.lines(.standardError).first?.contains("--to \(base) overlaps with the topics below") == true)
    }

    @Test("prints JSON")
    func json() {
        let rules = printed(.dashboard, isJSON: true).document["rules"]?.elements
        #expect(rules == [["role": "dashboard", "user": "dashboard", "right": "read", "topic": "jacquard/#"]])
    }

    @Test(
        "rejects options that do not belong together",
        arguments: [
            (["acl"], "FORM is missing"), (["acl", "rabbitmq"], "FORM"),
            (["acl", "mosquitto", "--user", "hall"], "--user needs --role"),
            (["acl", "mosquitto", "--role", "guest"], "--role"),
            (["acl", "mosquitto", "--role", "bridge", "--user", "two words"], "--user"),
            (["acl", "mosquitto", "--logins", "a"], "--logins is for acl try"),
            (["acl", "try", "--user", "hall"], "--user is for acl mosquitto"),
            (["acl", "try", "--logins", "a", "--role", "admin"], "leave --role out"),
        ])
    func usage(arguments: [String], message: String) {
        let table = CommandTable<any CommandAction>(
            program: ProgramDescription(name: "jacquard2mqtt", summary: "", details: [], sections: []),
            commands: ClientCommands.rows)
        let error = #expect(throws: CommandLineError.self) { try table.parse(arguments) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}

@Suite("acl try")
struct AccessTryTests {
    private static let roles = AccessRole.allCases.map(\.rawValue)

    /// A broker with a user for each role, and a file with their logins.
    @LoopActor
    private final class Place {
        let folder = try? ScratchFolder()
        let broker: PrivateBroker
        let logins: String

        init(rules: String) async throws {
            let folder = try #require(folder)
            let list = try folder.write("acl.conf", rules)
            let passwords = try await folder.writePasswords(
                Dictionary(uniqueKeysWithValues: AccessTryTests.roles.map { ($0, "secret \($0)") }))
            logins = try folder.write(
                "logins",
                "# ROLE USER PASSWORD\n\n" + AccessTryTests.roles.map { "\($0) \($0) secret \($0)\n" }.joined())
            // The broker gives up its rights before it reads its files.
            for path in [folder.path, list, passwords] {
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            }
            broker = try await PrivateBroker(
                options: ["allow_anonymous false", "password_file \(passwords)", "acl_file \(list)"])
        }

        func attempt(isJSON: Bool = false) async -> (code: ExitCode, written: Written) {
            let written = Written()
            let command = AccessTryCommand(role: .bridge, logins: logins)
            return (await ClientAction.perform(command, .test(broker.port, written, isJSON: isJSON)), written)
        }
    }

    @Test("finds that mosquitto decides like the table, for each role and action")
    func equal() async throws {
        try await onLoop {
            let place = try await Place(rules: MosquittoAccessList(AccessTable()).text)
            let (code, written) = await place.attempt(isJSON: true)
            #expect(code == .done, "\(written.lines(.standardError))")
            let trials = try #require(written.document["trials"]?.elements)
            for role in Self.roles {
                let own = trials.filter { $0["role"]?.string == role && $0["done"] != .null }
                let allowed = own.count { $0["allowed"] == true }
                #expect(own.count > 45, "\(role)")
                #expect(
                    allowed > (role == "replay" ? 1 : 10) && allowed < own.count, "\(role): \(allowed) of \(own.count)")
            }
            let (_, lines) = await place.attempt()
            #expect(lines.lines(.standardOutput).count == Self.roles.count)
            #expect(lines.lines(.standardOutput).allSatisfy { $0.contains(" 0 differ") })
        }
    }

    @Test("finds rights that the broker grants or denies wrongly")
    func different() async throws {
        try await onLoop {
            let rules = MosquittoAccessList(AccessTable()).text
                .replacing("topic write jacquard/tag/+/led/set\n", with: "")
                .replacing("user dashboard\n", with: "user dashboard\ntopic write jacquard/tag/+/haptic/set\n")
            let place = try await Place(rules: rules)
            let (code, written) = await place.attempt()
            #expect(code == .failed)
            let differing = written.lines(.standardOutput).filter { $0.contains(" publish ") }
            #expect(differing.count == 3)
            #expect(
                differing.contains {
                    $0.hasPrefix("automation") && $0.contains("/led/set") && $0.hasSuffix("yes      no")
                })
            #expect(
                differing.contains {
                    $0.hasPrefix("dashboard") && $0.contains("/haptic/set") && $0.hasSuffix("no       yes")
                })
            #expect(written.lines(.standardError).contains { $0.contains("3 actions") })
            let machine = await place.attempt(isJSON: true).written
            #expect(machine.document["status"] == "error")
        }
    }

    @Test("names the user whose login is rejected, and shows no password")
    func wrongPassword() async throws {
        try await onLoop {
            let place = try await Place(rules: "")
            let text = try String(contentsOfFile: place.logins, encoding: .utf8)
            try text.replacing("secret admin", with: "wrong").write(
                toFile: place.logins, atomically: false, encoding: .utf8)
            let (code, written) = await place.attempt()
            #expect(code == .noConnection)
            let error = written.lines(.standardError).joined()
            #expect(error.contains("User admin:"))
            #expect(!error.contains("wrong") && !error.contains("secret"))
        }
    }

    @Test("leaves nothing retained")
    func retained() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let written = Written()
            let command = AccessTryCommand(role: .admin, logins: nil)
            // Without a list, everything is allowed.
            #expect(await ClientAction.perform(command, .test(broker.port, written)) == .failed)
            let again = Written()
            #expect(await ClientAction.perform(ClearCommand(), .test(broker.port, again)) == .done)
            #expect(
                again.lines(.standardOutput) == ["The broker sends this user no retained message of the bridge attic"])
        }
    }

    @Test("needs a protocol that reports denied publications")
    func oldProtocol() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let written = Written()
            let command = AccessTryCommand(role: .bridge, logins: nil)
            let code = await ClientAction.perform(command, .test(broker.port, written, isJSON: true, version: .v311))
            #expect(code == .failed)
            #expect(written.document["error"]?["code"] == "protocol_too_old")
        }
    }

    @Test(
        "rejects a file of logins with errors",
        arguments: [
            ("", "no login"), ("# a b c\n", "no login"), ("bridge hall\n", "logins:1: not three words"),
            ("\nguest hall secret\n", "logins:2: guest is no role"),
        ])
    func logins(text: String, message: String) {
        let error = #expect(throws: ClientFailure.self) { try AccessLogin.parse(text, "logins") }
        #expect(error?.text.contains(message) == true)
        #expect(error?.text.contains("secret") == false)
    }

    @Test("reads a password with blanks")
    func blanks() throws {
        let logins = try AccessLogin.parse("admin root a b  c\n", "logins")
        #expect(logins == [AccessLogin(role: .admin, user: "root", password: Secret(value: "a b  c"))])
    }
}
