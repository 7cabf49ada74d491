import JSON
import Testing

@Suite("JSON object writer")
struct JSONObjectWriterTests {
    private struct Color: Encodable {
        let b: Int64
        let r: Int64
    }

    private struct Sample: Encodable {
        let color: Color
        let count: Int64
        let isOn: Bool
        let name: String
        let parts: [String]
    }

    @Test(
        "writes the bytes of an encoder",
        arguments: [
            ("", 0, true), ("a\"b\\c\nd\u{1}é", -1, false), ("plain", Int64.max, true), ("/", Int64.min, false),
        ])
    func members(name: String, count: Int64, isOn: Bool) {
        let sample = Sample(color: Color(b: 1, r: 255), count: count, isOn: isOn, name: name, parts: ["a", name])
        var object = JSONObjectWriter(capacity: 64)
        object.add("color") { color in
            color.add("b", sample.color.b)
            color.add("r", sample.color.r)
        }
        object.add("count", count)
        object.add("isOn", isOn)
        object.add("name", name)
        object.add("parts", document: sample.parts)
        #expect(object.finished() == JSONText.bytes(of: sample))
    }

    @Test("writes a time as text")
    func time() {
        var (object, text) = (JSONObjectWriter(), TimeText())
        object.add("time", time: 1_795_342_202_114, &text)
        #expect(object.finished() == Array(#"{"time":"\#(TimeText.utc(1_795_342_202_114))"}"#.utf8))
    }

    @Test("writes an object without members, and null for no text")
    func empty() {
        #expect(JSONObjectWriter().finished() == Array("{}".utf8))
        var object = JSONObjectWriter()
        object.add("data") { _ in }
        object.add("id", nil)
        #expect(object.finished() == Array(#"{"data":{},"id":null}"#.utf8))
    }
}
