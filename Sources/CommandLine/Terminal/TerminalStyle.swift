public import CommandLine
import Glibc
import Text

/// The abilities of a terminal or a file.
public struct TerminalStyle: Hashable, Sendable {
    /// Whether lines have colours.
    public let isColored: Bool
    /// The width of the terminal; nil: the output is no terminal, and lines have any length.
    public let columns: Int?

    /// A file or a pipe.
    public static let plain = TerminalStyle(isColored: false, columns: nil)

    /// Creates a style.
    public init(isColored: Bool, columns: Int?) {
        self.isColored = isColored
        self.columns = columns
    }

    /// The style of this process's standard output.
    public init(_ choice: ColorChoice, environment: [String: String]) {
        let descriptor = OutputChannel.standardOutput.rawValue
        let isTerminal = isatty(descriptor) == 1
        var size = winsize()
        let isKnown = isTerminal && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        self.init(choice, isTerminal: isTerminal, columns: isKnown ? Int(size.ws_col) : nil, environment: environment)
    }

    /// Decides by the user's choice, then `NO_COLOR` (https://no-color.org) and `TERM`.
    init(_ choice: ColorChoice, isTerminal: Bool, columns: Int?, environment: [String: String]) {
        isColored =
            switch choice {
            case .always: true
            case .never: false
            case .automatic:
                isTerminal && environment["NO_COLOR", default: ""].isEmpty
                    && !["", "dumb"].contains(environment["TERM", default: ""])
            }
        self.columns = columns
    }
}

/// The meaning of a coloured word.
public enum Tone: Hashable, Sendable {
    /// Green: it works.
    case good
    /// Yellow: it may need attention, or changes.
    case warning
    /// Red: it does not work.
    case bad
    /// Bold: a title, or a line to notice.
    case emphasis

    /// The tone of a word for a state; nil for other words.
    public init?(state text: String) {
        let good: Set = ["ok", "online", "connected", "works", "powered on"]
        let bad: Set = ["failed", "offline", "bridge offline", "error", "missing", "differs"]
        let warning: Set = [
            "warning", "degraded", "disconnected", "preparing to connect", "connecting", "initializing", "configuring",
        ]
        // `initializing 6/14` and `connected, held`
        let word = text.prefix { !$0.isNumber && $0 != "," }
        let state = ASCII.trimmed(word[...])
        if good.contains(state) {
            self = .good
        } else if bad.contains(state) {
            self = .bad
        } else if warning.contains(state) {
            self = .warning
        } else {
            return nil
        }
    }

    /// The parameters of the sequence SGR (ECMA-48).
    fileprivate var parameters: String {
        switch self {
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        case .emphasis: "1"
        }
    }
}

/// A line of output whose parts can have a colour.
public struct StyledLine: Hashable, Sendable {
    private struct Part: Hashable, Sendable {
        let text: String
        let tone: Tone?
    }

    private var parts: [Part] = []

    /// Creates a line.
    public init(_ text: String = "", _ tone: Tone? = nil) {
        append(text, tone)
    }

    /// Creates a line whose first word has the colour of its state.
    public init(state line: String) {
        let word = line.prefix { $0 != " " }
        append(String(word), Tone(state: String(word)))
        append(String(line[word.endIndex...]))
    }

    /// Adds a part at the end.
    public mutating func append(_ text: String, _ tone: Tone? = nil) {
        guard !text.isEmpty else { return }
        let isContinued = parts.last?.tone == tone && !parts.isEmpty
        let before = isContinued ? parts.removeLast().text : ""
        parts.append(Part(text: before + text, tone: tone))
    }

    /// The line without colours.
    public var text: String { parts.map(\.text).joined() }

    /// The line as it is written, with the control characters of its texts escaped.
    func written(isColored: Bool) -> String {
        parts.map { part in
            let text = DisplayText.escaped(part.text)
            guard isColored, let tone = part.tone else { return text }
            return "\u{1B}[\(tone.parameters)m\(text)\u{1B}[0m"
        }.joined()
    }
}
