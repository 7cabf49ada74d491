import Glibc
import Testing
import Text

@testable import Logging

@Suite("Logger")
struct LoggerTests {
    @Test("does not evaluate the variables of a record below the threshold")
    func threshold() {
        let sink = MemorySink(level: .notice)
        var made = 0
        func variable() -> String {
            made += 1
            return "x"
        }
        Logger("part", to: sink).debug("below", [(.tag, variable())])
        Logger("part", to: sink).notice("at", [(.tag, variable())])
        #expect(made == 1)
        #expect(sink.records.map(\.message) == ["at"])
    }

    @Test("places its own variables before those of the record")
    func metadata() {
        let sink = MemorySink()
        Logger("mqtt", to: sink).with(.tag, "003R").warning("went wrong", [(.error, "no route to host")])
        #expect(sink.records.map(\.line) == [#"mqtt: went wrong tag=003R error="no route to host""#])
    }

    @Test(
        "escapes control characters and direction marks",
        arguments: [("a\u{9B}2Jb", #"a\u009b2Jb"#), ("\u{202E}gat", #"\u202egat"#), ("a\u{2028}b", #"a\u2028b"#)])
    func unsafe(value: String, text: String) {
        let sink = MemorySink()
        Logger("part", to: sink).info("seen", [(.reason, value)])
        #expect(sink.records.map(\.line) == [#"part: seen reason=""# + text + "\""])
    }

    @Test("shortens long values")
    func long() {
        let sink = MemorySink()
        let logger = Logger("part", to: sink)
        logger.info("seen", [(.topic, String(repeating: "a", count: 1_024)), (.tag, "003R")])
        logger.info("seen", [(.topic, String(repeating: "ä", count: 60_000)), (.tag, "003R")])
        #expect(sink.records[0].metadata.map(\.value) == [String(repeating: "a", count: 1_024), "003R"])
        #expect(sink.records[1].metadata.map(\.value) == [String(repeating: "ä", count: 512) + "...", "003R"])
    }

    @Test("keeps a record on one line, whatever a value contains")
    func oneLine() {
        let sink = MemorySink()
        Logger("part", to: sink).info("seen", [(.reason, "a\nb\u{1B}\"c"), (.topic, "")])
        #expect(sink.records.map(\.line) == [#"part: seen reason="a\nb\u001b\"c" topic="""#])
    }
}

@Suite("Stream sink")
struct StreamSinkTests {
    private static let stamp = "2026-11-20T10:15:02.114Z"

    /// The text of a sink for one record.
    private func written(_ format: StreamSink.Format, isStamped: Bool = true, _ value: String = "003R") -> String {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        let now: @Sendable () -> String = { Self.stamp }
        let sink = StreamSink(descriptor: ends[1], format: format, timeStamp: isStamped ? now : nil)
        Logger("part", to: sink).warning("lost", [(.tag, value)])
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(ends[0], &bytes, bytes.count)
        close(ends[0])
        close(ends[1])
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test(
        "writes one line per record, with the time unless the journal adds it",
        arguments: [
            (StreamSink.Format.text, "2026-11-20T10:15:02.114Z warning part: lost tag=003R\n"),
            (.journalStream, "<4>part: lost tag=003R\n"),
            (
                .json,
                #"{"time":"2026-11-20T10:15:02.114Z","level":"warning","label":"part","message":"lost","tag":"003R"}"#
                    + "\n"
            ),
        ])
    func formats(format: StreamSink.Format, expected: String) {
        #expect(written(format) == expected)
    }

    @Test("omits the time without a clock")
    func noClock() {
        #expect(written(.text, isStamped: false) == "warning part: lost tag=003R\n")
        #expect(
            written(.json, isStamped: false)
                == #"{"level":"warning","label":"part","message":"lost","tag":"003R"}"# + "\n")
    }

    @Test(
        "writes control characters as printable ASCII",
        arguments: [StreamSink.Format.text, .journalStream, .json])
    func unsafe(format: StreamSink.Format) {
        let line = written(format, "\u{9B}2J\u{202E}\u{7F}\u{2066}\n")
        #expect(line.dropLast().utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(line)")
        #expect(line.contains(#"\u009b2J\u202e\u007f\u2066\n"#))
    }

    /// The file of a sink.
    enum Destination: CaseIterable {
        case pipe, pipeOfOtherUser, socket, terminal

        /// Descriptors for reading and for writing.
        func open() -> (reader: CInt, writer: CInt) {
            var ends: [CInt] = [-1, -1]
            switch self {
            case .pipe, .pipeOfOtherUser: #expect(Glibc.pipe(&ends) == 0)
            case .socket: #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            case .terminal:
                ends[0] = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY)
                var (lock, number): (CInt, CUnsignedInt) = (0, 0)
                // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
                #expect(ioctl(ends[0], 0x4004_5431, &lock) == 0 && ioctl(ends[0], 0x8004_5430, &number) == 0)
                ends[1] = Glibc.open("/dev/pts/\(number)", O_WRONLY | O_NOCTTY)
                #expect(ends[1] >= 0)
            }
            return (ends[0], ends[1])
        }
    }

    /// Reads what is there; waits until something is.
    private func available(_ descriptor: CInt) -> String {
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&request, 1, text.isEmpty ? 10_000 : 20) == 1 {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { break }
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        return text.replacing("\r\n", with: "\n")
    }

    @Test("drops and counts lines that nothing reads, and does not block", arguments: Destination.allCases)
    func unread(destination: Destination) {
        let (reader, writer) = destination.open()
        defer {
            close(reader)
            close(writer)
        }
        let sink = StreamSink(NonBlockingDescriptor(writer, opensAgain: destination != .pipeOfOtherUser))
        let log = Logger("part", to: sink)
        // Longer than the part of a pipe that is written at once.
        let long = String(repeating: "x", count: 1_000)
        let most = 2_000
        for number in 1...most {
            log.info("seen", [(.count, "\(number)"), (.reason, long), (.error, long), (.path, long), (.topic, long)])
        }
        var text = available(reader)
        var written = most
        while !text.hasSuffix("read again\n"), written < most + 10 {
            log.info("read again")
            written += 1
            text += available(reader)
        }
        let lines = text.split(separator: "\n")
        // Each line is there or counted. The kernel makes room in a terminal's buffer later, so there may be several counts.
        var last = 0
        for line in lines.dropLast() {
            if let dropped = line.wholeMatch(of: /warning log: lines dropped, the output was not read count=(\d+)/) {
                last += Int(dropped.1) ?? 0
            } else {
                last += 1
                #expect(line.hasPrefix("info part: seen count=\(last) ") && line.hasSuffix(long))
            }
        }
        #expect(last == written - 1)
        #expect(lines.count < most && lines.first?.hasPrefix("info part: seen count=1 ") == true)
        #expect(lines.last == "info part: read again")
        #expect(fcntl(writer, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test("accepts a new threshold at any time")
    func level() {
        let sink = StreamSink(level: .error)
        sink.level = .trace
        #expect(sink.level == .trace)
    }
}

@Suite("Journal sink")
struct JournalSinkTests {
    @Test(
        "gives each level its priority",
        arguments: [
            (LogLevel.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3),
        ])
    func priority(level: LogLevel, priority: Int) {
        let record = LogRecord(level: level, label: "part", message: "lost", metadata: [])
        #expect(JournalSink.fields(of: record).contains("PRIORITY=\(priority)"))
        #expect(level.syslogPriority == priority)
    }

    @Test("has a field for each variable, with control characters escaped")
    func fields() {
        let record = LogRecord(
            level: .warning, label: "part", message: "lost",
            metadata: [(.tag, "003R"), (.retryIn, "500"), (.error, "a\u{9B}\nb")])
        #expect(
            JournalSink.fields(of: record) == [
                #"MESSAGE=part: lost tag=003R retry_in_ms=500 error="a\u009b\nb""#, "PRIORITY=4", "JACQUARD_PART=part",
                "JACQUARD_TAG=003R", "JACQUARD_RETRY_IN_MS=500", #"JACQUARD_ERROR=a\u{9b}\u{a}b"#,
            ])
    }

    @Test("sends datagrams that the journal accepts, drops and counts the others, and does not block")
    func datagrams() throws {
        let path = "/tmp/j2m-journal-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let sink = JournalSink(level: .info, path: path)
        let log = Logger("part", to: sink)
        log.info("before the journal runs")
        let journal = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer {
            close(journal)
            unlink(path)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(journal, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound)
        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = recv(journal, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        let most = 20_000
        for number in 1...most { log.warning("lost", [(.tag, "\(number)")]) }
        #expect(next()?.contains("MESSAGE=log: lines dropped, the output was not read count=1\nPRIORITY=4\n") == true)
        let first = try #require(next())
        #expect(
            first.hasPrefix(
                "MESSAGE=part: lost tag=1\nPRIORITY=4\nJACQUARD_PART=part\nJACQUARD_TAG=1\nSYSLOG_IDENTIFIER="))
        #expect(first.hasSuffix("\n"))
        var read = 1
        while next() != nil { read += 1 }
        #expect(read < most)
        log.info("read again")
        #expect(next()?.contains("JACQUARD_COUNT=\(most - read)\n") == true)
        #expect(next()?.hasPrefix("MESSAGE=part: read again\n") == true)
    }

    @Test("is used for standard error only if the service manager names this stream")
    func detection() {
        var status = stat()
        fstat(2, &status)
        #expect(JournalSink.isBehindStandardError("\(status.st_dev):\(status.st_ino)"))
        #expect(!JournalSink.isBehindStandardError("\(status.st_dev):\(status.st_ino + 1)"))
        #expect(!JournalSink.isBehindStandardError(nil))
    }
}
