import CommandLine
import EventLoop
import Testing

@testable import jacquard2mqtt

/// Runs the script in bash, with stubs for the functions of the package bash-completion.
@Suite("Completion in bash")
struct BashCompletionTests {
    private static let stubs = #"""
        _init_completion() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; }
        _filedir() { COMPREPLY=("files$*"); }
        """#

    @Test(
        "offers commands, options and values",
        arguments: [
            ("d", "doctor"), ("--v", "--version"), ("help mon", "monitor"),
            ("led --p", "--pattern"), ("led --pattern s", "solid single_blink"), ("led 003R ye", "yellow"),
            ("led --duration ", ""), ("run --log-level d", "debug"), ("run --state ", "files-d"),
            ("scan --config ", "files@(yaml|yml)"), ("check-config my", "files@(yaml|yml)"),
            ("check-config --j", "--json"), ("pair --timeout ", ""), ("unknown ", ""),
        ])
    func offer(typed: String, offered: String) {
        let words = typed.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
        let script = """
            \(Self.stubs)
            \(Program.table.completion(for: .bash))
            COMP_WORDS=(jacquard2mqtt \(words.joined(separator: " "))) COMP_CWORD=\(words.count)
            _jacquard2mqtt
            echo "${COMPREPLY[*]}"
            """
        #expect(Subprocess.output(of: "bash", ["-c", script], within: .seconds(30)) == offered)
    }
}
