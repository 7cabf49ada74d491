import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Files that cannot be used")
struct FileFaultTests {
    /// A tmpfs of 64 kB at a folder that only the daemon sees, and the state in it.
    private static func runner(_ folder: String) -> [String] {
        let script = """
            mount -t tmpfs -o size=64k tmpfs \(folder) && export STATE_DIRECTORY=\(folder)/state && exec "$0" "$@"
            """
        return ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script]
    }

    @Test(
        "because the disk is full are problems in health until there is space again",
        .enabled("not everybody may have a view of the file system of his own") {
            let trial = try Program("/usr/bin/unshare", ["--mount", "/bin/true"])
            trial.waitForExit()
            return trial.exitStatus == 0
        })
    func fullDisk() async throws {
        let folder = try ScratchFolder()
        let settings = "metrics:\n  file: \(folder.path)/a.prom\n  interval_s: 5"
        try await inWorld(WorldPlan(settings: settings, runner: Self.runner(folder.path))) { world in
            try await world.connected()
            let view = "/proc/\(world.daemon.identifier)/root\(folder.path)"
            try await until("the files") {
                ["a.prom", "state/tags.json"].allSatisfy { FileManager.default.fileExists(atPath: "\(view)/\($0)") }
            }
            let saved = try Data(contentsOf: URL(fileURLWithPath: view + "/state/tags.json"))
            let filler = open(view + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            #expect(filler >= 0)
            while write(filler, [UInt8](repeating: 0, count: 4096), 4096) > 0 {}
            close(filler)
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            try await until("both problems") {
                Set(world.problems) == ["state_not_saved", "metrics_not_written"]
            }
            let health = world.observer.latest(World.bridge + "/health") ?? ""
            #expect(health.contains("Known tags cannot be saved in \(folder.path)/state: No space left on device"))
            #expect(health.contains("Metrics cannot be written to \(folder.path)/a.prom: No space left on device"))
            // The old file is whole, and nothing is left that takes room.
            #expect(try Data(contentsOf: URL(fileURLWithPath: view + "/state/tags.json")) == saved)
            #expect(!FileManager.default.fileExists(atPath: view + "/state/tags.json.new"))
            unlink(view + "/filler")
            try await world.succeeds("jacquard/tag/0001/connection/set", "connect")
            try await until("the end of both problems") { world.problems.isEmpty }
            try await world.logs("known tags are saved again")
            try await world.logs("metrics are written again")
        }
    }

    @Test("because a FIFO has their name do not delay the broker, commands or other files")
    func fifo() async throws {
        let folder = try ScratchFolder()
        for name in ["a.prom", "a.prom.new"] { #expect(mkfifo(folder.path + "/" + name, 0o600) == 0) }
        let settings = "metrics:\n  file: \(folder.path)/a.prom\n  interval_s: 5"
        try await inWorld(settings: settings) { world in
            try await world.connected()
            try await until("the problem") { world.problems == ["metrics_not_written"] }
            try await world.stopBroker()
            world.observer.forget()
            try await world.startBroker()
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            try await until("the state file") { try world.stored("0001")?["held"] as? Bool == true }
        }
    }

    @Test("are no place for the log of a bridge whose standard streams are closed")
    func closedStreams() async throws {
        let script = #"exec "$0" "$@" <&- >&- 2>&-"#
        try await inWorld(WorldPlan(runner: ["/bin/sh", "-c", script])) { world in
            try await world.connected()
            let lock = try String(contentsOfFile: world.folder.path + "/lock", encoding: .utf8)
            #expect(lock == "\(world.daemon.identifier)\n")
            #expect(world.daemon.printed.isEmpty)
        }
    }

    @Test("because another bridge uses the folder end the second bridge, which names the process")
    func lockedState() async throws {
        try await inWorld { world in
            try await world.connected()
            let second = try await world.run(Program.buildFolder + "/jacquard2mqtt", ["run"])
            #expect(second.status == 1)
            #expect(second.printed.contains("the state folder is used by another process"))
            #expect(second.printed.contains("pid=\(world.daemon.identifier)"))
            #expect(second.printed.contains("--state DIR"))
            for arguments in [["check-config"], ["doctor"]] {
                let other = try await world.run(Program.buildFolder + "/jacquard2mqtt", arguments)
                #expect(!other.printed.contains("used by another process"))
            }
            #expect(world.isConnected("0001"))
            world.daemon.signal(SIGKILL)
            try await until("its end") { !world.daemon.isRunning }
            world.observer.forget()
            try world.restartDaemon()
            // On the link that the killed process has left.
            try await world.recovers(from: "the bridge was killed") {
                world.isConnected("0001") && world.observer.document("jacquard/tag/0001/gear")["firmware"] is String
            }
        }
    }
}
