import Bridge
import EventLoop
import FoundationEssentials
import Glibc
import Logging
import TestSupport
import Testing

@testable import Configuration
@testable import Daemon

@Suite("Metrics writer")
struct MetricsWriterTests {
    /// Writes every 5 ms, and counts how often it was asked for a text.
    @LoopActor
    private final class Writer {
        private(set) var texts = 0
        let sink = MemorySink()
        private(set) lazy var writer = MetricsWriter(log: Logger("metrics", to: sink)) { [unowned self] in
            texts += 1
            return "\(texts)\n"
        }

        func follow(_ file: String, every interval: Duration = .milliseconds(5)) {
            var settings = Settings.Metrics()
            settings.file = file
            settings.interval = interval
            writer.follow(settings)
        }
    }

    @Test("writes repeatedly, and not after it was stopped")
    func stop() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let (stopped, other) = (Writer(), Writer())
            stopped.follow(scratch.path + "/a")
            try await until("several files") { stopped.texts > 2 }
            stopped.writer.stop()
            let texts = stopped.texts
            // The second one shows that the time of the first one has come several times.
            other.follow(scratch.path + "/b")
            try await until("several intervals") { other.texts > 4 }
            #expect(stopped.texts == texts)
            other.writer.stop()
        }
    }

    @Test("writes again at once for settings that have changed while a file was written, and then waits")
    func changed() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let writer = Writer()
            writer.follow(scratch.path + "/a", every: .seconds(3_600))
            writer.follow(scratch.path + "/a", every: .seconds(7_200))
            try await until("both writes") { writer.texts == 2 }
            let other = Writer()
            other.follow(scratch.path + "/b")
            try await until("several intervals") { other.texts > 4 }
            #expect(writer.texts == 2)
            #expect(try String(contentsOfFile: scratch.path + "/a", encoding: .utf8) == "2\n")
            writer.writer.stop()
            other.writer.stop()
        }
    }

    @Test("reports a file that cannot be written once, and its recovery")
    func failure() async throws {
        try await onLoop {
            let scratch = try ScratchFolder()
            let path = scratch.path + "/a"
            #expect(mkfifo(path, 0o600) == 0)
            let writer = Writer()
            var reasons: [String?] = []
            writer.writer.onChange = { [unowned writer] in reasons.append(writer.writer.failure?.reason) }
            writer.follow(path)
            try await until("several attempts") { writer.texts > 3 }
            #expect(reasons == ["it is a FIFO, not a regular file"])
            unlink(path)
            try await until("the file") { reasons.count == 2 }
            #expect(reasons.last == .some(nil))
            #expect(writer.sink.records.map(\.message) == ["cannot write metrics", "metrics are written again"])
            writer.writer.stop()
        }
    }
}
