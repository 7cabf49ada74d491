import CommandLine
import Configuration
import JSON
import Text

/// Why a command of the client has not done what it should, and with which status the process ends.
struct ClientFailure: Error, Hashable, Sendable {
    /// The status: `failed` or `noConnection`.
    let exitCode: ExitCode
    /// A short name, stable for scripts: a code of the MQTT contract, of the MQTT client, or one of those below.
    let code: String
    /// One sentence for people.
    let text: String
    /// What to do about it, where that is known.
    var hint: String?
    /// Whether standard output has its document already, so that no second one is printed.
    var isPrinted = false

    /// What goes to standard error.
    var lines: [String] {
        ["jacquard2mqtt: \(DisplayText.escaped(text))"] + (hint.map { ["hint: \(DisplayText.escaped($0))"] } ?? [])
    }

    /// What machines get: `{"status":"error","error":{"code","text","hint"}}`.
    var document: JSONValue {
        ["status": "error", "error": ["code": .string(code), "text": .string(text), "hint": JSONValue(hint)]]
    }
}

extension ClientFailure {
    /// The bridge is stopped, or has no connection to the broker.
    static func bridgeOffline(_ instance: String) -> ClientFailure {
        ClientFailure(
            exitCode: .noConnection, code: "bridge_offline",
            text: "The broker answers, but the bridge \"\(instance)\" is offline",
            hint: "start it: sudo systemctl start jacquard2mqtt, or jacquard2mqtt run")
    }

    /// No bridge of that name has ever been seen by this broker.
    ///
    /// - Parameters:
    ///   - instance: the name in the configuration.
    ///   - others: the bridges that the broker knows.
    /// - Returns: the failure.
    static func bridgeUnknown(_ instance: String, others: [String] = []) -> ClientFailure {
        guard !others.isEmpty else {
            return ClientFailure(
                exitCode: .noConnection, code: "bridge_unknown",
                text: "The broker answers, but there is no bridge \"\(instance)\"",
                hint: "start it with jacquard2mqtt run, or check instance and mqtt.base_topic in the configuration")
        }
        return ClientFailure(
            exitCode: .noConnection, code: "bridge_unknown",
            text:
                "The broker answers, but there is no bridge \"\(instance)\"; there is \(others.joined(separator: ", "))",
            hint: "set instance in the configuration to the name of the bridge that you mean")
    }

    /// The bridge says that it is online and does not answer.
    static func silent(_ instance: String, within limit: Duration) -> ClientFailure {
        ClientFailure(
            exitCode: .noConnection, code: "no_answer",
            text: "The bridge \"\(instance)\" is online, but has not answered within \(limit.components.seconds) s",
            hint: "jacquard2mqtt doctor")
    }

    /// The connection broke in the middle.
    static func lost(_ reason: String) -> ClientFailure {
        ClientFailure(
            exitCode: .noConnection, code: "connection_lost",
            text: "The connection to the broker was lost: \(reason)",
            hint: "whether the command was carried out is not known")
    }

    /// The error of a result. Source: the MQTT contract, section 4.
    init(result: JSONValue) {
        let error = result["error"]
        self.init(
            exitCode: .failed, code: error?["code"]?.string ?? "internal",
            text: error?["text"]?.string ?? "The bridge reports an error without a text",
            hint: error?["hint"]?.string)
    }
}
