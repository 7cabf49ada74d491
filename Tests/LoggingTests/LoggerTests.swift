import Glibc
import Logging
import Testing

@Suite("Logger")
struct LoggerTests {
    @Test("does not make the variables of a record below the threshold")
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

    @Test("puts its own variables before those of the record")
    func metadata() {
        let sink = MemorySink()
        Logger("mqtt", to: sink).with(.tag, "003R").warning("went wrong", [(.error, "no route to host")])
        #expect(sink.records.map(\.line) == [#"mqtt: went wrong tag=003R error="no route to host""#])
    }

    @Test("keeps a record on one line whatever a value holds")
    func oneLine() {
        let sink = MemorySink()
        Logger("part", to: sink).info("seen", [(.reason, "a\nb\u{1B}\"c"), (.topic, "")])
        #expect(sink.records.map(\.line) == [#"part: seen reason="a\nb\u001b\"c" topic="""#])
    }
}

@Suite("Stream sink")
struct StreamSinkTests {
    @Test(
        "writes one line a record",
        arguments: [
            (StreamSink.Format.text, "warning part: lost tag=003R\n"),
            (.journalStream, "<4>part: lost tag=003R\n"),
            (.json, #"{"level":"warning","label":"part","message":"lost","tag":"003R"}"# + "\n"),
        ])
    func formats(format: StreamSink.Format, expected: String) {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        Logger("part", to: StreamSink(descriptor: ends[1], format: format)).warning("lost", [(.tag, "003R")])
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(ends[0], &bytes, bytes.count)
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == expected)
        close(ends[0])
        close(ends[1])
    }

    @Test("takes a new threshold at any time")
    func level() {
        let sink = StreamSink(level: .error)
        sink.level = .trace
        #expect(sink.level == .trace)
    }
}
