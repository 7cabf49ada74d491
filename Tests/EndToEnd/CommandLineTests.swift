import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The command line")
struct CommandLineTests {
    private static let path = Program.buildFolder + "/jacquard2mqtt"

    private func run(
        _ arguments: [String], by path: String = Self.path
    ) async throws -> (status: Int32?, printed: String) {
        try await onLoop {
            let program = try Program(path, arguments)
            try await until("the end of \(arguments)") { program.hasEnded }
            return (program.exitStatus, program.printed)
        }
    }

    @Test("prints version and help")
    func help() async throws {
        let version = try await run(["--version"])
        #expect(version.status == 0)
        #expect(version.printed.hasPrefix("jacquard2mqtt "))
        let help = try await run(["--help"])
        #expect(help.status == 0)
        #expect(help.printed.contains("check-config"))
        let topic = try await run(["run", "--help"])
        #expect(topic.status == 0)
        #expect(topic.printed.contains("--state"))
    }

    @Test(
        "exits with 2 for unknown words",
        arguments: [[], ["fly"], ["run", "--fast"], ["check-config", "x", "y"]])
    func usage(arguments: [String]) async throws {
        let ended = try await run(arguments)
        #expect(ended.status == 2)
        #expect(!ended.printed.isEmpty)
    }

    @Test(
        "says that its output is lost, whatever its exit code",
        arguments: [
            ("--version > /dev/full", 1, "No space left on device"),
            ("fly --json > /dev/full", 2, "No space left on device"), ("--version >&-", 1, "Bad file descriptor"),
        ])
    func lostOutput(words: String, status: Int32, reason: String) async throws {
        let ended = try await run(["-c", "\(Self.path) \(words)"], by: "/bin/sh")
        #expect(ended.status == status)
        #expect(ended.printed.contains("standard output cannot be written: \(reason)"))
    }

    @Test("reports every error of a configuration, with line and key")
    func configuration() async throws {
        let folder = try ScratchFolder()
        let file = try folder.write("c.yaml", "mqtt:\n  port: abc\n  hots: x\n")
        let checked = try await run(["check-config", "--config", file])
        #expect(checked.status == 1)
        #expect(checked.printed.contains("\(file):2:9: mqtt.port"))
        #expect(checked.printed.contains("\(file):3:3: mqtt.hots"))
        let started = try await run(["run", "--config", file])
        #expect(started.status == 2)
        #expect(started.printed.contains("mqtt.port"))
        for words in [["status"], ["tags"], ["scan"], ["monitor"], ["led", "0001", "red"], ["forget", "0001"]] {
            let asked = try await run(words + ["--config", file])
            #expect(asked.status == 2 && asked.printed.contains("mqtt.port"), "\(words): \(asked.printed)")
        }
    }
}
