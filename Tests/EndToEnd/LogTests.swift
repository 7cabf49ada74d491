import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The log")
struct LogTests {
    private static let stamp = #"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"#

    /// Whether each of the lines matches.
    private static func allMatch(_ text: String, _ pattern: String) throws -> Bool {
        let pattern = try Regex(pattern)
        return text.split(separator: "\n").allSatisfy { $0.wholeMatch(of: pattern) != nil }
    }

    @Test("shows a tag's life at info, each line with its time")
    func life() async throws {
        try await inWorld { world in
            @LoopActor func logged(_ pattern: String) throws -> Bool {
                try world.daemon.printed.contains(Regex(#"\d\.\d{3}Z info tag: "# + pattern))
            }
            try await world.connected()
            try await until("connected") { try logged(#"connected tag=0001 after_ms=\d+ attempt=1\n"#) }
            try await world.simulate("attach 0001 jacket")
            try await until("gear") { try logged(#"gear attached tag=0001 gear="[^"]*Trucker Jacket"\n"#) }
            try await world.simulate("detach 0001")
            try await until("no gear") { try logged("gear detached tag=0001") }
            try await world.simulate("out-of-range 0001")
            try await until("the loss") { try logged("connection lost tag=0001 code=[a-z_]+ error=") }
            try await world.simulate("in-range 0001")
            try await until("connected again", within: .seconds(40)) {
                try world.daemon.printed.matches(of: Regex("tag: connected tag=0001 after_ms=")).count == 2
            }
            #expect(try Self.allMatch(world.daemon.printed, Self.stamp + " [a-z]+ .*"))
        }
    }

    @Test("stops nothing while its output is not read, and reports the number of dropped lines afterwards")
    func unread() async throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/log"
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let filler = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        defer {
            close(reader)
            close(filler)
        }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while write(filler, bytes, bytes.count) > 0 {}
        try await inWorld(WorldPlan(runner: ["/bin/sh", "-c", #"exec "$0" "$@" 2>"# + path])) { world in
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/led/set", #"{"flash":1}"#)
            var count = 1
            while count > 0 { count = read(reader, &bytes, bytes.count) }
            try await world.stopDaemon()
            #expect(world.daemon.exitStatus == 0)
            var text = ""
            repeat {
                count = read(reader, &bytes, bytes.count)
                text += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            } while count > 0
            let lines = text.split(separator: "\n")
            #expect(lines.first?.contains("log: lines dropped, the output was not read count=") == true)
            #expect(lines.last?.hasSuffix("daemon: stopped") == true)
        }
    }

    @Test(
        "has a time stamp in each line, unless the journal adds it",
        arguments: [
            ("text", false, stamp + " [a-z]+ .*"), ("auto", false, stamp + " [a-z]+ .*"),
            ("text", true, "<[3-7]>[a-z]+: .*"),
            ("json", false, #"\{"time":""# + stamp + #"","level".*\}"#),
        ])
    func time(format: String, isJournal: Bool, pattern: String) async throws {
        let journal = isJournal ? "export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2); " : ""
        let script = "export JACQUARD2MQTT_LOG__FORMAT=\(format); \(journal)" + #"exec "$0" "$@""#
        try await inWorld(WorldPlan(runner: ["/bin/sh", "-c", script])) { world in
            try await world.connected()
            #expect(try Self.allMatch(world.daemon.printed, pattern), "\(world.daemon.printed.prefix(500))")
        }
    }
}

@Suite("Service manager and state file")
struct ServiceContractTests {
    @Test("the watchdog is notified while the loop runs, if the service manager requests it")
    func watchdog() async throws {
        try await inWorld { world in
            let socket = try NotifySocket(in: world.folder.path)
            try await world.stopAndStartDaemon(with: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "400000"])
            try await until("several signs of life") { socket.received.count { $0 == "WATCHDOG=1" } >= 3 }
        }
    }

    @Test("the state file is written beside the old one, with mode 0600, and synced before it is renamed")
    func durable() async throws {
        let scratch = try ScratchFolder()
        let trace = scratch.path + "/calls"
        let calls = "trace=openat,fchmod,fsync,rename,renameat,renameat2"
        try await inWorld(WorldPlan(runner: ["strace", "-D", "-f", "-qq", "-e", calls, "-o", trace])) { world in
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            try await until("the state file") { try world.stored("0001")?["held"] as? Bool == true }
            #expect(try world.stored("0001")?["paired"] as? Bool == false)
            let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
            let first = try #require(lines.firstIndex { $0.contains("/tags.json.new\"") && $0.contains("openat(") })
            // The calls of one thread, from the first file on.
            let thread = lines[first].prefix { $0 != " " } + " "
            let rest = lines[first...].filter { $0.hasPrefix(thread) && !$0.contains(" resumed>") }
            let names = rest.prefix(6).map { $0.dropFirst(thread.count).drop { $0 == " " }.prefix { $0 != "(" } }
            #expect(names == ["openat", "fchmod", "fsync", "rename", "openat", "fsync"], "\(rest.prefix(6))")
            #expect(rest[0].contains("O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0600"))
            #expect(rest[1].contains(", 0600)"))
            #expect(rest[4].contains("O_DIRECTORY"))
            #expect(!lines.contains { $0.contains("/tags.json\", O_WRONLY") || $0.contains("/tags.json\", O_RDWR") })
        }
    }
}
