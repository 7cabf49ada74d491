import Bridge

/// Whether the broker's access control lets the bridge publish and subscribe.
enum BrokerPermissionsCheck {
    /// Says which topics are forbidden, and the rule that would allow them.
    static func finding(_ trials: [TopicTrial]) -> Finding {
        guard !trials.isEmpty else {
            return Finding(.brokerPermissions, .skipped, "the broker could not be reached or does not accept the login")
        }
        let forbidden = trials.filter { $0.outcome != .returned }
        guard !forbidden.isEmpty else {
            return Finding(.brokerPermissions, .ok, "the bridge may publish and subscribe its topics")
        }
        let words = forbidden.map { "\($0.topic) (\(reason($0.outcome)))" }.joined(separator: ", ")
        return Finding(
            .brokerPermissions, .failed, "the broker does not let the bridge use \(words)",
            remedies: ["add to the file of acl_file in /etc/mosquitto/mosquitto.conf, below the user:"]
                + forbidden.map { "topic readwrite \($0.rule)" } + ["sudo systemctl reload mosquitto"])
    }

    private static func reason(_ outcome: TopicTrial.Outcome) -> String {
        switch outcome {
        case .pending, .returned: ""
        case .refused(let reason): reason.asWords
        case .swallowed: "it does not come back"
        }
    }
}
