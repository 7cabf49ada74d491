/// The access control list of mosquitto 2.0, for its option `acl_file`.
public struct MosquittoAccessList: Sendable {
    private let table: AccessTable

    /// - Parameter table: the rights to write down.
    public init(_ table: AccessTable) {
        self.table = table
    }

    /// The list of all roles, with one user for each, named like the role. `config/mosquitto/acl.conf` contains it.
    public var text: String {
        ([heading] + AccessRole.allCases.map { section(of: $0, user: $0.rawValue) }).joined(separator: "\n")
    }

    /// Returns the rules of one role for one user.
    public func section(of role: AccessRole, user: String) -> String {
        var lines = Self.description(of: role).map { "# " + $0 } + ["user " + user]
        for rule in table.rules(of: role) {
            if rule == table.formerDiscovery.first {
                lines.append(
                    "# At each start the bridge looks for announcements of earlier runs under another prefix of one level."
                )
            }
            lines.append("topic \(rule.right.rawValue) \(rule.filter)")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private var heading: String {
        let everything = "everything below " + table.base
        let read = everything + String(repeating: " ", count: max(1, 33 - everything.count))
        return """
            # Access rules for mosquitto 2.0 and the base topic "\(table.base)": six roles, each with one or more users.
            # In mosquitto.conf: acl_file /etc/mosquitto/acl.conf. After a change: systemctl reload mosquitto.
            #
            #                 reads                            writes
            #   bridge        commands, requests, other        everything of tags, its own topics, answers to
            #                 bridges, Home Assistant          the command line, Home Assistant's discovery
            #   dashboard     \(read)nothing
            #   automation    everything of tags               their commands, except setup
            #   admin         everything                       everything, requests to bridges included
            #   homeassistant \(read)commands of tags, scans, pairing, discovery
            #   replay        nothing                          recorded events below \(table.replayBase)/tag
            #
            # jacquard2mqtt replay-events publishes recorded events below another base topic. automation, admin and homeassistant read them.
            # The command line (jacquard2mqtt led, tags, ...) receives its responses below \(table.base)/client.
            #
            # Topics that are not listed are denied. mosquitto accepts a denied subscription and delivers nothing. "jacquard2mqtt doctor"
            # detects this for the bridge's user.

            """
    }

    private static func description(of role: AccessRole) -> [String] {
        switch role {
        case .bridge: ["A bridge. One user for all bridges, or one for each, with the same rules."]
        case .dashboard: ["A dashboard, such as Grafana or Telegraf."]
        case .automation:
            [
                "Automations that react to gestures and send commands to tags, such as Node-RED or a script. They cannot pair, forget, connect or",
                "disconnect tags, write to their store, or send requests to a bridge.",
            ]
        case .admin: ["The administrator: all commands and requests, and the status of the broker."]
        case .homeAssistant: ["Home Assistant: announcements, facts and events, and the commands of its entities."]
        case .replay: ["jacquard2mqtt replay-events: publishes recorded events, to try an automation with them."]
        }
    }
}
