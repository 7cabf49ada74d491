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

    private let written = Written()

    private func run(config: String?) -> ExitCode {
        let command = CheckConfigCommand(config: config, environment: [:], defaultPath: folder.path("none")) {
            written.lines.append(.init($0, $1))
        }
        return command.run()
    }
}

/// What a command has written.
private final class Written {
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
