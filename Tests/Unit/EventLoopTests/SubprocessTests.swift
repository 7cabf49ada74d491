import EventLoop
import Testing
import Time

@Suite("Subprocess")
struct SubprocessTests {
    @Test("returns the output of a program, and nil if it fails, hangs or does not exist")
    func output() {
        #expect(Subprocess.output(of: "echo", ["5.66"], within: .seconds(5)) == "5.66")
        #expect(Subprocess.output(of: "false", [], within: .seconds(5)) == nil)
        #expect(Subprocess.output(of: "sleep", ["60"], within: .milliseconds(20)) == nil)
        #expect(Subprocess.output(of: "no-such-program", [], within: .seconds(5)) == nil)
    }

    @Test("returns the status and the errors of a program")
    func ending() {
        let shell = Subprocess.ending(of: "sh", ["-c", "echo no; echo bad >&2; exit 3"], within: .seconds(5))
        #expect(shell == Subprocess.Ending(status: 3, errors: "bad"))
        let none = Subprocess.Ending(status: nil, errors: "")
        #expect(Subprocess.ending(of: "sleep", ["60"], within: .milliseconds(20)) == none)
        #expect(Subprocess.ending(of: "no-such-program", [], within: .seconds(5)) == none)
    }

    @Test("keeps the last lines of a long output", arguments: [10_000, 14_000, 60_000])
    func longOutput(lines: Int) throws {
        let text = try #require(Subprocess.output(of: "seq", ["\(lines)"], within: .seconds(20)))
        let found = text.split(separator: "\n").map { Int($0) }
        #expect(text.utf8.count <= 65_536)
        // At most a line is missing at the bound.
        #expect(lines == 10_000 || text.utf8.count > 65_526)
        #expect(found == Array((lines - found.count + 1)...lines))
    }

    @Test(
        "kills a program that writes without end, or goes on after the end of its output",
        arguments: ["exec yes", "exec >/dev/null; exec sleep 60"])
    func endless(script: String) {
        let start = Instant.now
        #expect(Subprocess.output(of: "sh", ["-c", script], within: .milliseconds(200)) == nil)
        #expect(.now - start < .seconds(30))
    }
}
