import Configuration
import JSON
import Text

/// Whether a bridge of this name is online, and whether it is this machine's.
enum BridgeCheck {
    /// Whether a process of this machine is a bridge, by `/proc/<id>/cmdline`: words that end with a zero byte each.
    static func probe(_ folder: String = "/proc") -> Bool {
        return FolderEntries.names(in: folder).contains { entry in
            guard entry.utf8.allSatisfy(ASCII.isDigit) else { return false }
            let contents = try? FileContents(path: "\(folder)/\(entry)/cmdline", limit: 65_536)
            return isBridge((contents?.bytes ?? []).split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
        }
    }

    private static func isBridge(_ words: [String]) -> Bool {
        guard let program = words.first, words.dropFirst().first == "run" else { return false }
        return program.split(separator: "/").last == "jacquard2mqtt"
    }

    /// Says who has the name.
    static func finding(_ instance: String, _ facts: BrokerFacts, isRunningHere: Bool) -> Finding {
        guard case .accepted = facts.contact else {
            return Finding(.bridge, .skipped, "the broker could not be reached or does not accept the login")
        }
        let since = facts.bridgeInfo?["started"]?.string.map { " since \($0)" } ?? ""
        switch (facts.bridgeState == "online", isRunningHere) {
        case (true, true): return Finding(.bridge, .ok, "\(instance) is online\(since)")
        case (false, false):
            return Finding(
                .bridge, .ok, "no bridge is online as \(instance)",
                remedies: ["sudo systemctl start jacquard2mqtt, or jacquard2mqtt run"])
        case (true, false):
            return Finding(
                .bridge, .warning, "\(instance) is online\(since), and does not run on this machine",
                remedies: ["give one of the two bridges another instance, and another mqtt.client_id if it is set"])
        case (false, true):
            return Finding(
                .bridge, .warning, "a bridge runs on this machine, but is not online as \(instance)",
                remedies: ["journalctl -u jacquard2mqtt -n 50", "compare its --config with the one used here"])
        }
    }
}
