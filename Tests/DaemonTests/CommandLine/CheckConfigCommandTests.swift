import JSON
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

    @Test("each error is a line on standard error")
    func bad() throws {
        try folder.write("instance: Attic\nlog: {level: loud}\n", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml")) == .failed)
        #expect(written.lines.map(\.channel) == [.standardError, .standardError])
        #expect(written.lines.map { $0.text.hasPrefix(folder.path("x.yaml:")) } == [true, true])
    }

    @Test("without any file the defaults are ok")
    func missing() {
        #expect(run(config: nil) == .done)
        #expect(written.lines.first == .init(.standardOutput, "\(folder.path("none")): ok"))
    }

    @Test("machines get one document, with line and column of each error")
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

    @Test("a good file is ok for machines, too")
    func goodJSON() throws {
        try folder.write("tags: [{serial: '0001'}]", to: "x.yaml")
        #expect(run(config: folder.path("x.yaml"), isJSON: true) == .done)
        let text = #"{"errors":[],"file":"\#(folder.path("x.yaml"))","notices":[],"status":"ok"}"#
        #expect(written.lines == [.init(.standardOutput, text)])
    }

    private let written = Record()

    private func run(config: String?, isJSON: Bool = false) -> ExitCode {
        let command = CheckConfigCommand(
            config: config, isJSON: isJSON, environment: [:], defaultPath: folder.path("none")
        ) {
            written.lines.append(.init($0, $1))
        }
        return command.run()
    }
}

/// What a command has written.
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
