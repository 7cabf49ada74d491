public import CommandLine
public import JSON
import Text

/// Why a command failed, and the exit code of the process.
public struct ClientFailure: Error, Hashable, Sendable {
    /// `failed` or `noConnection`.
    public let exitCode: ExitCode
    /// A stable name for scripts: an error code of the MQTT contract or of the MQTT client, or one of those below.
    public let code: String
    /// One sentence for people.
    public let text: String
    /// The remedy; nil if it is not known.
    public var hint: String?
    /// Whether the command has already printed its document, so that no second one is printed.
    public var isPrinted = false

    /// Creates a failure.
    public init(exitCode: ExitCode, code: String, text: String, hint: String? = nil) {
        self.exitCode = exitCode
        self.code = code
        self.text = text
        self.hint = hint
    }

    /// The lines for standard error.
    public var lines: [String] {
        ["jacquard2mqtt: \(DisplayText.escaped(text))"] + (hint.map { ["hint: \(DisplayText.escaped($0))"] } ?? [])
    }

    /// The document for `--json`: `{"status":"error","error":{"code","text","hint"}}`.
    public var document: JSONValue {
        ["status": "error", "error": ["code": .string(code), "text": .string(text), "hint": JSONValue(hint)]]
    }
}

extension ClientFailure {
    /// The user pressed Ctrl-C.
    public static let interrupted = ClientFailure(exitCode: .failed, code: "interrupted", text: "Interrupted")

    /// The connection was lost while the command waited.
    public static func lost(_ reason: String) -> ClientFailure {
        ClientFailure(
            exitCode: .noConnection, code: "connection_lost",
            text: "The connection to the broker was lost: \(reason)",
            hint: "whether the command was carried out is not known")
    }
}
