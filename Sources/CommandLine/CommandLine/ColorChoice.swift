/// When to colour the output. The raw values are the words of `--color`.
public enum ColorChoice: String, CaseIterable, Sendable {
    /// Also into a file or a pipe.
    case always
    /// On a terminal.
    case automatic = "auto"
    /// Never.
    case never
}

extension OptionDescription {
    /// `--color`, for commands with tables and states.
    public static let color = OptionDescription(
        name: "--color", value: "WHEN", completion: .words(ColorChoice.allCases.map(\.rawValue)),
        details: [
            "When to colour the output: always, auto or never. Default: auto, on a",
            "terminal, unless NO_COLOR is set or TERM is dumb.",
        ])
}
