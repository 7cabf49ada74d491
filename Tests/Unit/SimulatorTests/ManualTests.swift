import CommandLine
import TestSupport
import Testing

@testable import Simulator

/// `UPDATE_GENERATED=1 swift test --filter ManualTests` writes the files.
@Suite("Manual page and completion of jacquard-simulator")
struct ManualTests {
    @Test("the manual page follows from the table")
    func manualPage() throws {
        let path = "deploy/debian/manual/jacquard-simulator.1"
        let page = SimulatorProgram.table.manualPage(date: try GeneratedFile.date(of: path))
        #expect(try GeneratedFile.text(of: path, generated: page) == page, GeneratedFile.remedy)
    }

    @Test(
        "the completion follows from the table",
        arguments: [
            (.bash, "deploy/debian/completion/jacquard-simulator"),
            (.zsh, "deploy/debian/completion/_jacquard-simulator"),
        ] as [(Shell, String)])
    func completion(shell: Shell, path: String) throws {
        let script = SimulatorProgram.table.completion(for: shell)
        #expect(try GeneratedFile.text(of: path, generated: script) == script, GeneratedFile.remedy)
    }
}
