import EventLoop
import Testing

@Suite("Subprocess")
struct SubprocessTests {
    @Test("returns the output of a program, and nil if it fails, hangs or does not exist")
    func output() {
        #expect(Subprocess.output(of: "echo", ["5.66"], within: .seconds(5)) == "5.66")
        #expect(Subprocess.output(of: "false", [], within: .seconds(5)) == nil)
        #expect(Subprocess.output(of: "sleep", ["60"], within: .milliseconds(20)) == nil)
        #expect(Subprocess.output(of: "no-such-program", [], within: .seconds(5)) == nil)
    }
}
