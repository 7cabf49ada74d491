import CommandLine
import Glibc
import JSON
import Terminal
import TestSupport
import Testing

@testable import Daemon

@Suite("check-config")
struct CheckConfigCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("a good file is ok, with its notices")
    func good() throws {
        try folder.write("instance: attic", to: "x.yaml")
        let path = folder.path("x.yaml")
        #expect(run(config: path) == .done)
        let notice = "\(path): notice: tags is empty: only tags that were paired by command are connected"
        #expect(written.lines == [.init(.standardOutput, "\(path): ok"), .init(.standardOutput, notice)])
    }

    @Test("serials that a person can have misread are notices")
    func misreadSerials() throws {
        try folder.write("tags: [{serial: 0001}, {serial: 000l}, {serial: 003R}, {serial: O12a}]", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml")) == .done)
        let notices = written.lines.dropFirst().map { $0.text.dropFirst(folder.path("x.yaml: notice: ").count) }
        #expect(
            notices == [
                "tags[1].serial: 000l and 0001 look alike: compare it with the print on the tag",
                #"tags[3].serial: "O12a" contains the letter O, which looks like the digit 0: compare it with the print on the tag"#,
            ])
    }

    @Test("a serial that looks like a tag of the state file is a notice, also if it is unusual to read")
    func knownSerials() throws {
        let tags = ["0001", "003R", "0077", "007l"].map {
            #"{"serial":"\#($0)","id":"\#($0)","held":false,"paired":true}"#
        }
        try folder.write(#"{"version":1,"tags":[\#(tags.joined(separator: ","))]}"#, to: "tags.json")
        try folder.write("tags: [{serial: O001}, {serial: 003r}, {serial: 0077}, {serial: 007l}]", to: "x.yaml")
        let path = folder.path("x.yaml")
        #expect(run(config: path) == .done)
        let notices = written.lines.map(\.text).filter { $0.contains("does not know") }
        #expect(
            notices == [
                "\(path): notice: tags[0].serial: the bridge does not know O001 (did you mean 0001?)",
                "\(path): notice: tags[1].serial: the bridge does not know 003r (did you mean 003R?)",
            ])
        try folder.write("{", to: "tags.json")
        #expect(run(config: path) == .done)
        #expect(written.lines.count { $0.text.contains("does not know") } == 2)
        #expect(access(folder.path("tags.json.damaged"), F_OK) != 0)
    }

    @Test(
        "a serial that is not four characters or the whole printed number is an error",
        arguments: ["03R", "12", "0003R", "0-07-9324FLHBK0003R"])
    func cutSerial(serial: String) throws {
        try folder.write("tags: [{serial: \(serial)}]", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml")) == .failed)
        #expect(written.lines.first?.text.contains("tags.0.serial: \"\(serial)\"") == true)
    }

    @Test("a value that a comment cuts is a notice with its line")
    func cutValue() throws {
        try folder.write("tags: [{serial: 0001}]\ninstance: hall #2\n", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml")) == .done)
        #expect(
            written.lines.last?.text
                == #"\#(folder.path("x.yaml")): notice: line 2: instance: " #" begins a comment: put the value in quotes if it contains the #"#
        )
    }

    @Test("each error is a line on standard error")
    func bad() throws {
        try folder.write("instance: Attic\nlog: {level: loud}\n", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml")) == .failed)
        #expect(written.lines.map(\.channel) == [.standardError, .standardError])
        #expect(written.lines.map { $0.text.hasPrefix(folder.path("x.yaml:")) } == [true, true])
    }

    @Test("without a file the defaults are ok")
    func missing() {
        #expect(run(config: nil) == .done)
        #expect(written.lines.first == .init(.standardOutput, "\(folder.path("none")): ok"))
    }

    @Test("with --json prints one document, with line and column of each error")
    func json() throws {
        try folder.write("instance: attic\nlog: {level: loud}\n", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml"), isJSON: true) == .failed)
        let document = JSONValue(payload: Array((written.lines.first?.text ?? "").utf8))
        #expect(written.lines.map(\.channel) == [.standardOutput])
        #expect(document["status"] == "error")
        let error = try #require(document["errors"]?.elements?.first)
        #expect(error["key"] == "log.level")
        #expect(error["line"] == 2)
        #expect(error["column"] == 14)
        #expect(error["variable"] == .null)
    }

    @Test("with --json reports a good file")
    func goodJSON() throws {
        try folder.write("tags: [{serial: '0001'}]", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml"), isJSON: true) == .done)
        let text = #"{"errors":[],"file":"\#(folder.path("x.yaml"))","notices":[],"status":"ok"}"#
        #expect(written.lines == [.init(.standardOutput, text)])
    }

    @Test("prints the values of keys, one on a line, with the defaults of those that are not set")
    func values() throws {
        try folder.write(
            "mqtt: {host: \"a.lan\", tls: true, username: 'x y'}\ntags: [{serial: 0001}, {serial: 0002, id: b}]",
            to: "x.yaml")
        let keys = ["mqtt.host", "mqtt.port", "mqtt.base_topic", "mqtt.username", "mqtt.password_file", "tags.N.id"]
        #expect(run(config: folder.path("x.yaml"), keys: keys) == .done)
        #expect(written.lines.map(\.text) == ["a.lan", "8883", "jacquard", "x y", "", "0001", "b"])
        #expect(written.lines.allSatisfy { $0.channel == .standardOutput })
    }

    @Test("prints the values of keys for machines, a list for each key")
    func valuesJSON() throws {
        try folder.write("tags: [{serial: 0001}]", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml"), isJSON: true, keys: ["tags.N.serial", "log.level"]) == .done)
        let document = JSONValue(payload: Array((written.lines.first?.text ?? "").utf8))
        #expect(document["values"] == ["tags.N.serial": ["0001"], "log.level": ["info"]])
    }

    @Test("a tag that is not in the list has no values")
    func missingTag() throws {
        try folder.write("tags: [{serial: 0001}]", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml"), keys: ["tags.1.serial"]) == .failed)
        #expect(
            written.lines == [.init(.standardError, "\(folder.path("x.yaml")): tags.1.serial: there is no such item")])
    }

    private let written = Record()

    private func run(config: String?, isJSON: Bool = false, keys: [String] = []) -> ExitCode {
        CheckConfigCommand(config: config, isJSON: isJSON, keys: keys)
            .run(environment: ["STATE_DIRECTORY": folder.path], defaultPath: folder.path("none")) {
                written.lines.append(.init($0, $1))
            }
    }
}

/// The output of a command.
private final class Record {
    struct Line: Equatable {
        let channel: OutputChannel
        let text: String

        init(_ channel: OutputChannel, _ text: String) {
            self.channel = channel
            self.text = text
        }
    }

    var lines: [Line] = []
}
