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

    /// The program, which prints its arguments as one line.
    private static let program = #"""
        HOME=/home/ada
        jacquard2mqtt() { echo "$*"; }
        """#

    @Test(
        "offers the lines that the program prints for a tag or a key, and does not expand them",
        arguments: [
            ("led ", "complete tags -- "), ("led 00", "complete tags -- 00"), ("led 0001,", "complete tags -- 0001,"),
            ("led --pattern solid 00", "complete tags -- 00"), ("why ", "complete tag -- "),
            ("led --config a.yaml 00", "complete tags --config a.yaml -- 00"),
            ("led --config=a.yaml 00", "complete tags --config a.yaml -- 00"),
            (#"led --config "a\.yaml" 00"#, "complete tags --config a.yaml -- 00"),
            ("led --config ~/a.yaml 00", "complete tags --config /home/ada/a.yaml -- 00"),
            ("--config a.yaml led 00", "complete tags --config a.yaml -- 00"),
            ("--config=a.yaml led 00", "complete tags --config a.yaml -- 00"),
            ("--config a.yaml led --pattern solid 00", "complete tags --config a.yaml -- 00"),
            ("battery --json $(false)", "complete tags -- $(false)"), ("battery 0001 --j", "--json"),
            ("record-traffic 00", "complete tag -- 00"),
            ("record-traffic 0001 a", "files"), ("imu sto", "stop"), ("imu record 00", "complete tag -- 00"),
            ("imu --rate 100 record 00", "complete tag -- 00"), ("imu record --g", "--group"),
            ("imu record 0001 --g", "--group"), ("imu parse run", "files"), ("imu parse --cs", "--csv"),
            ("imu record 0001 st", ""), ("modules 0001 del", "delete"), ("modules del", "complete tag -- del"),
            ("modules 0001 delete IMU --j", "--json"), ("radios se", "setup"), ("radios setup --po", "--port"),
            ("radios setup se", ""), ("check-config --print mqtt.host,mqtt.por", "complete keys -- mqtt.host,mqtt.por"),
            ("check-config --config a.yaml --print ", "complete keys --config a.yaml -- "),
        ])
    func tags(typed: String, offered: String) {
        #expect(Self.offers(typed, Self.program) == offered)
    }

    @Test(
        "offers commands, options and values",
        arguments: [
            ("d", "doctor"), ("--v", "--version"), ("help mon", "monitor"),
            ("led --p", "--pattern"), ("led --pattern s", "solid single_blink"), ("led 003R ye", "yellow"),
            ("led --duration ", ""), ("run --log-level d", "debug"), ("run --state ", "files-d"),
            ("scan --config ", "files@(yaml|yml)"), ("check-config my", "files@(yaml|yml)"),
            ("check-config --j", "--json"), ("--config ", "files@(yaml|yml)"), ("--config a.yaml sta", "status"),
            ("--config a.yaml led 003R ye", "yellow"), ("--config=a.yaml sta", "status"),
            ("--config=a.yaml led 003R ye", "yellow"), ("pair --timeout ", ""), ("unknown ", ""),
        ])
    func offer(typed: String, offered: String) {
        #expect(Self.offers(typed) == offered)
    }

    private static func offers(_ typed: String, _ program: String = "") -> String? {
        let words = typed.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
        let script = """
            \(stubs)
            \(program)
            \(Program.table.completion(for: .bash))
            COMP_WORDS=(jacquard2mqtt \(words.joined(separator: " "))) COMP_CWORD=\(words.count)
            _jacquard2mqtt
            echo "${COMPREPLY[*]}"
            """
        return Subprocess.output(of: "bash", ["-c", script], within: .seconds(30))
    }
}
