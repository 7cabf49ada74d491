import JSON
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("request/metrics")
struct MetricsRequestTests {
    private static let request = "bridge/attic/request/metrics"
    private static let measurement = HealthMeasurement(
        residentKilobytes: 9_120, queued: 3, dropped: 2, brokerReconnects: 4)

    /// Sends the request, and answers with a measurement.
    private func data(_ scene: Scene, after tag: String? = nil) throws -> JSONValue {
        scene.send(Self.request, tag.map { #"{"after":"\#($0)"}"# } ?? "")
        #expect(scene.takeActions().contains { if case .measure = $0 { true } else { false } })
        let result = try #require(
            scene.done(.measured(Self.measurement)).last?.split(separator: " ", maxSplits: 1).last)
        return try #require(JSONValue(parsing: Array(result.utf8))?["data"])
    }

    private static func entry(_ number: Int) -> TagEntry {
        let id = String(number + 10_000)
        return TagEntry(id: .known(id), serial: id)
    }

    @Test("answers with the text of the metrics file")
    func text() throws {
        let scene = Scene.connected()
        let data = try data(scene)
        #expect(data["text"]?.string == scene.state.metrics(Self.measurement, at: scene.now))
        #expect(data["next"] == .null)
    }

    @Test(
        "refuses arguments that are not allowed",
        arguments: [
            (#"{"after":1}"#, "invalid_argument"), ("now", "invalid_argument"), ("{", "invalid_json"),
            (#"{"after":"\#(String(repeating: "x", count: 65))"}"#, "invalid_argument"),
        ])
    func refusal(payload: String, code: String) {
        let scene = Scene.connected()
        scene.send(Self.request, payload)
        #expect(scene.lastError?.code == code)
    }

    @Test("is executed again with the same id, so that its results don't replace the stored ones of commands")
    func notStored() {
        let scene = Scene.connected()
        for _ in 0..<2 {
            scene.send(Self.request, #"{"id":"a"}"#)
            #expect(scene.takeActions().contains { if case .measure = $0 { true } else { false } })
            let result = scene.done(.measured(Self.measurement)).last
            #expect(result?.contains(#""id":"a","status":"ok""#) == true)
        }
    }

    @Test("answers in parts of at most 64 KiB, which together are the text of the file")
    func parts() throws {
        let scene = Scene(tags: (0..<1_000).map(Self.entry))
        for number in 0..<1_000 {
            scene.connect(Self.entry(number).id)
            scene.report(.gesture(.brushIn), of: Self.entry(number).id)
        }
        var text = MetricsText()
        var tag: String?
        var (count, longest) = (0, 0)
        repeat {
            let data = try data(scene, after: tag)
            let part = try #require(data["text"]?.string)
            longest = max(longest, part.utf8.count)
            text.append(part)
            tag = data["next"]?.string
            count += 1
        } while tag != nil && count < 100
        #expect((2...20).contains(count))
        #expect((33 << 10...64 << 10).contains(longest))
        #expect(text.text(.prometheus) == scene.state.metrics(Self.measurement, at: scene.now))
    }

    @Test("has each tag once, whatever is added and removed between two parts")
    func changes() throws {
        let scene = Scene(tags: (0..<300).map { Self.entry(2 * $0) })
        let first = try data(scene)
        let last = try #require(first["next"]?.string)
        scene.handle(.tagRemoved(.known(last)))
        scene.handle(.tagAdded(Self.entry(1)))
        scene.handle(.tagAdded(Self.entry(599)))
        var text = MetricsText()
        text.append(try #require(first["text"]?.string))
        var next: String? = last
        while let tag = next {
            let data = try data(scene, after: tag)
            text.append(try #require(data["text"]?.string))
            next = data["next"]?.string
        }
        let lines = text.text(.prometheus).split(separator: "\n").filter { $0.hasPrefix("jacquard_tag_connected{") }
        #expect(lines.count == Set(lines).count)
        #expect(lines.count == 301)
        #expect(lines.last == #"jacquard_tag_connected{tag="10599"} 0"#)
    }

    @Test("is OpenMetrics: counters without their suffix in the metadata, units, information, and the end")
    func openMetrics() {
        var text = MetricsText()
        text.append(Scene.connected().state.metrics(Self.measurement, at: Scene.beginning))
        let lines = text.text(.openMetrics).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.suffix(2) == ["# EOF", ""])
        #expect(
            lines.prefix(2) == [
                "# HELP jacquard_bridge Name and version of the bridge; always 1.", "# TYPE jacquard_bridge info",
            ])
        #expect(lines.contains("# TYPE jacquard_tag_reconnects counter"))
        #expect(lines.contains(#"jacquard_tag_reconnects_total{tag="003R"} 0"#))
        #expect(lines.contains("# TYPE jacquard_bridge_gesture_seconds histogram"))
        #expect(lines.contains("# UNIT jacquard_bridge_gesture_seconds seconds"))
        #expect(lines.contains("# UNIT jacquard_bridge_resident_bytes bytes"))
        // No blank line, and every unit belongs to the family before.
        #expect(!lines.dropLast().contains(""))
        for (place, line) in lines.enumerated() where line.hasPrefix("# UNIT ") {
            #expect(lines[place - 1].hasPrefix("# TYPE \(line.split(separator: " ")[2]) "))
        }
    }

    @Test("ignores lines before the first family, and keeps those of a family that occurs again")
    func foreignText() {
        var text = MetricsText()
        text.append("x 1\n# comment\n# HELP a h\n# TYPE a gauge\na{b=\"1\"} 1\n")
        text.append("# HELP c\n# TYPE c gauge\nc 1\n# HELP a other\n# TYPE a gauge\na{b=\"2\"} 2\n# EOF")
        #expect(
            text.text(.prometheus) == """
                # HELP a h
                # TYPE a gauge
                a{b="1"} 1
                a{b="2"} 2
                # HELP c \n# TYPE c gauge
                c 1

                """)
    }
}
