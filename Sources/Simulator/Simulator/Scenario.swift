import EventLoop

/// A play for the simulator: its commands, one a line, and `wait SECONDS` between them; `#` begins a comment.
struct Scenario: Hashable, Sendable {
    /// The content of a line.
    enum Step: Hashable, Sendable {
        case wait(Duration)
        /// The line as it would be typed; it has been looked at.
        case command(String)
    }

    /// In their order.
    let steps: [Step]

    /// Reads a play.
    ///
    /// - Throws: ``CommandError`` that names the line, for the first that makes no sense.
    init(_ text: String) throws(CommandError) {
        var steps: [Step] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.prefix { $0 != "#" }
            let words = line.split(whereSeparator: \.isWhitespace)
            guard !words.isEmpty else { continue }
            do throws(CommandError) {
                steps.append(try Self.step(words, String(line)))
            } catch {
                throw CommandError("line \(index + 1): \(error)")
            }
        }
        self.steps = steps
    }

    private static func step(_ words: [Substring], _ line: String) throws(CommandError) -> Step {
        guard words[0] == "wait" else {
            _ = try SimulatorCommand.parse(line)
            return .command(line)
        }
        guard words.count == 2, let seconds = Double(words[1]), (0...86400).contains(seconds) else {
            throw CommandError("wait takes seconds from 0 to 86400")
        }
        return .wait(.seconds(seconds))
    }
}

/// Plays a scenario: executes its lines and pauses.
@LoopActor
final class ScenarioPlayer {
    private var rest: ArraySlice<Scenario.Step>
    private let type: (String) -> Void
    private lazy var timer = LoopTimer { [unowned self] in play() }

    init(_ scenario: Scenario, type: @escaping (String) -> Void) {
        rest = scenario.steps[...]
        self.type = type
    }

    /// Begins, or goes on.
    func play() {
        while let step = rest.popFirst() {
            switch step {
            case .command(let line): type(line)
            case .wait(let time): return timer.arm(after: time)
            }
        }
    }
}
