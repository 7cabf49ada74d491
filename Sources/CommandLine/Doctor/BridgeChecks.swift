import Bridge
import BrokerAccess
import Configuration
import JSON
import Text

/// Checks that the broker's access control list allows the bridge's topics.
enum BrokerPermissionsCheck {
    /// Reports forbidden topics, and the rules that would allow them.
    ///
    /// - Parameters:
    ///   - trials: the tested topics.
    ///   - baseTopic: the first part of the bridge's topics.
    /// - Returns: the finding. Rules are named if the broker has refused something, or delivers only some of the topics.
    static func finding(_ trials: [TopicTrial], baseTopic: String = "") -> Finding {
        guard !trials.isEmpty else {
            return Finding(.brokerPermissions, .skipped, "the broker could not be reached, or does not accept messages")
        }
        let bad = trials.filter { $0.outcome != .returned }
        guard !bad.isEmpty else {
            return Finding(.brokerPermissions, .ok, "the bridge may publish and subscribe its topics")
        }
        let refused = bad.filter { if case .refused = $0.outcome { true } else { false } }
        let altered = bad.contains { if case .altered = $0.outcome { true } else { false } }
        var remedies: [String] = []
        if !refused.isEmpty {
            remedies = ["allow it in the broker's access list; in mosquitto's acl_file, below the user:"]
            remedies += refused.map { "topic readwrite \($0.rule)" }
            remedies.append("sudo systemctl reload mosquitto")
        }
        if altered {
            let isDotted = baseTopic.utf8.contains(UInt8(ascii: "."))
            remedies.append(
                isDotted
                    ? "set mqtt.base_topic to one without a dot instead of \(baseTopic): RabbitMQ turns dots into slashes"
                    : "the broker changes topics: look at its configuration")
        }
        let lost = bad.filter { $0.outcome == .swallowed }
        if !lost.isEmpty {
            remedies.append("look at the broker's log: an access list may drop messages without an error")
            // MQTT 3.1.1 has no refusal. The broker delivers other topics, so a list is likely.
            if bad.count < trials.count {
                remedies += ["if it has one, it needs:"] + lost.map { "topic readwrite \($0.rule)" }
            }
        }
        return Finding(
            .brokerPermissions, .failed, bad.map { $0.words }.joined(separator: "; "), remedies: remedies)
    }
}

extension TopicTrial {
    /// The payloads that were sent and received.
    fileprivate var words: String {
        switch outcome {
        case .pending, .returned: ""
        case .refused(let reason): "the broker does not let the bridge use \(topic) (\(reason.asWords))"
        case .altered(let other): "sent to \(topic), and came as \(DisplayText.escaped(other))"
        case .swallowed: "sent to \(topic), and nothing came"
        }
    }
}

/// Checks that Home Assistant uses the same broker.
enum HomeAssistantCheck {
    /// Reports the retained message on Home Assistant's status topic.
    static func finding(_ homeAssistant: Settings.HomeAssistant, _ facts: BrokerFacts) -> Finding {
        guard homeAssistant.discovery else {
            return Finding(.homeAssistant, .skipped, "home_assistant.discovery is switched off")
        }
        guard case .accepted = facts.contact else {
            return Finding(.homeAssistant, .skipped, "the broker could not be reached or does not accept the login")
        }
        switch facts.homeAssistantStatus {
        case "online": return Finding(.homeAssistant, .ok, "online")
        case nil:
            // By default Home Assistant publishes its birth message without the retain flag, so this is not an error.
            return Finding(
                .homeAssistant, .ok,
                "\(homeAssistant.statusTopic) has no retained message, which is Home Assistant's default")
        case let status?:
            return Finding(
                .homeAssistant, .warning,
                "\(homeAssistant.statusTopic) is \(DisplayText.quoted(status)), expected \"online\"",
                remedies: ["start Home Assistant, or check its connection to the broker"])
        }
    }
}

/// Checks whether the bridge is online, and whether it runs on this machine.
enum BridgeCheck {
    /// Whether a bridge runs on this machine, by `/proc/<id>/cmdline`: arguments, each terminated by a zero byte.
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

    /// Reports a second bridge with the same name, or a local bridge that is not online.
    static func finding(_ instance: String, _ facts: BrokerFacts, isRunningHere: Bool) -> Finding {
        guard case .accepted = facts.contact else {
            return Finding(.bridge, .skipped, "the broker could not be reached or does not accept the login")
        }
        if facts.bridgeState == "online", facts.bridgePresence == .silent {
            let here = isRunningHere ? "; a bridge runs on this machine" : ""
            return Finding(
                .bridge, .failed, "\(instance) is \(SilentBridge.state)\(here)",
                remedies: (isRunningHere ? ["sudo journalctl -u jacquard2mqtt -n 50"] : []) + SilentBridge.remedies)
        }
        if let finding = reported(facts) { return finding }
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
                remedies: ["sudo journalctl -u jacquard2mqtt -n 50", "compare its --config with the one used here"])
        }
    }
}

extension BridgeCheck {
    /// The problems with the broker that the bridge has reported in its health; nil if there are none, or if it is offline.
    private static func reported(_ facts: BrokerFacts) -> Finding? {
        let codes = [Problem.Code.identifierInUse, .brokerRefuses].map { JSONValue.string($0.rawValue) }
        let problems = (facts.bridgeHealth?["problems"]?.elements ?? []).filter { problem in
            problem["code"].map(codes.contains) ?? false
        }
        let isContested = problems.contains { $0["code"] == codes[0] }
        // While two bridges take the connection from each other, the state says little.
        guard !problems.isEmpty, isContested || facts.bridgeState == "online" else { return nil }
        let texts = problems.sorted { $0["code"] == codes[0] && $1["code"] != codes[0] }.compactMap {
            $0["text"]?.string
        }
        return Finding(
            .bridge, .failed, "the bridge reports: " + texts.joined(separator: "; "),
            remedies: isContested
                ? ["give one of the two another instance, and another mqtt.client_id if it is set"]
                : ["sudo journalctl -u jacquard2mqtt -n 50"])
    }
}

/// Checks for tags whose firmware is known to be bad, which the bridge reports in its health.
enum FirmwareCheck {
    /// Reports these tags.
    ///
    /// - Parameter health: the document of `G/health`; nil if none is retained.
    /// - Returns: the finding; at most a warning, because such tags work with restrictions.
    static func finding(_ health: JSONValue?) -> Finding {
        guard let problems = health?["problems"]?.elements else {
            return Finding(.firmware, .skipped, "no bridge has reported it yet")
        }
        return .firmware(ofBadTags: problems.filter { $0["code"] == "bad_firmware" }.compactMap { $0["text"]?.string })
    }
}
