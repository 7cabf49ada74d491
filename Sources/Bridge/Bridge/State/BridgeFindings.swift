import JacquardProtocol
import Text
import Time

/// The findings of the bridge for `request/doctor`.
struct BridgeFindings {
    private let tags: TagTable
    private let health: HealthMonitor
    private let stack: StackFacts
    /// The bridge, with its version, and since when it runs.
    private let introduction: String
    /// The indices of the tags to which another bridge is connected.
    private let elsewhere: Set<Int>
    private let strangers: [String]
    /// Another client that uses the bridge's name.
    private let contest: Cause?
    private let now: Timestamp

    init(of bridge: borrowing BridgeState, at now: Timestamp) {
        tags = bridge.tags
        health = bridge.diagnostics.health
        stack = bridge.stack
        let configuration = bridge.configuration
        introduction =
            "\(configuration.instance) is online since \(bridge.run.startedAt.text), version \(configuration.version)"
        var elsewhere: Set<Int> = []
        for position in bridge.tags.indices where bridge.isConnectedElsewhere(position) { elsewhere.insert(position) }
        self.elsewhere = elsewhere
        strangers = bridge.strangers
        contest = bridge.isNameContested(at: now) ? bridge.contestCause : nil
        self.now = now
    }

    /// Returns the findings of the driver and those of the bridge, in the order of the checks.
    ///
    /// - Parameters:
    ///   - report: what the driver found.
    ///   - id: the tag to examine; nil: all tags.
    /// - Returns: the findings.
    func all(with report: HostReport, tag id: TagID?) -> [Finding] {
        var findings = report.findings + [brokerFinding, bridgeFinding, firmwareFinding, discoveryFinding]
        findings += radioFindings
        findings.append(duplicatesFinding)
        if let id, let position = tags.position(of: id) {
            findings +=
                TagFindings(
                    tags[position], report.bonds, isConnectedElsewhere: elsewhere.contains(position),
                    strangers: strangers, now: now
                ).all
        } else if let id {
            findings.append(Finding(.tags, .failed, "tag \(id) was forgotten", remedies: ["pair it again"]))
        } else {
            findings += tagsFindings(report.bonds)
        }
        findings += homeAssistantFindings
        let order = Dictionary(uniqueKeysWithValues: Check.allCases.enumerated().map { ($1, $0) })
        return findings.sorted { order[$0.check, default: 0] < order[$1.check, default: 0] }
    }
}

// MARK: The bridge

extension BridgeFindings {
    /// One finding for each radio; none if the bridge has one radio.
    private var radioFindings: [Finding] {
        (stack.adapters ?? []).compactMap { adapter in
            guard let radio = adapter.radio else { return nil }
            guard adapter.state != .poweredOn || adapter.error != nil else {
                return Finding(.radio, .ok, "\(radio): \(adapter.id) is on, \(adapter.connectedCount) linked")
            }
            return Finding(
                .radio, .failed, Problem(of: radio, adapter).text,
                remedies: ["jacquard2mqtt doctor, on the bridge's host"])
        }
    }

    /// Devices that were deleted in Home Assistant; none otherwise.
    private var homeAssistantFindings: [Finding] {
        let texts = problems([.deletedInHomeAssistant])
        return texts.isEmpty ? [] : [Finding(.homeAssistant, .warning, texts.joined(separator: "; "))]
    }

    /// The texts of the current problems with these codes.
    private func problems(_ codes: Set<Problem.Code>) -> [String] {
        health.current.filter { codes.contains($0.key.code) }.map(\.text).sorted()
    }

    /// Remedies for messages that were lost.
    private var remediesOfLosses: [String] {
        let kinds = Set(health.current.filter { $0.key.code == .eventsDropped }.map(\.key.subject.text))
        let isOutage = kinds.contains("") || kinds.contains("results")
        return [
            isOutage ? "see the broker's log: the bridge was disconnected from it too long" : nil,
            kinds.contains("") ? "limits.gestures_while_broker_away_s is how long a gesture waits" : nil,
            kinds.contains("commands") ? "send fewer commands at once" : nil,
        ].compactMap(\.self)
    }

    private var brokerFinding: Finding {
        if let contest { return Finding(contest) }
        if let text = problems([.brokerStalled]).first {
            return Finding(.broker, .failed, text, remedies: ["look at the broker's log, or restart the broker"])
        }
        let (refusals, losses) = (problems([.brokerRefuses]), problems([.eventsDropped]))
        guard refusals.isEmpty, losses.isEmpty else {
            let remedies =
                (refusals.isEmpty ? [] : ["run jacquard2mqtt doctor as the bridge's user: it tries each topic"])
                + remediesOfLosses
            return Finding(.broker, .warning, (refusals + losses).joined(separator: "; "), remedies: remedies)
        }
        let version = stack.protocolVersion.map { $0 == 5 ? " with MQTT 5" : " with MQTT 3.1.1" } ?? ""
        let node = stack.brokerNode.map { " to \($0)" } ?? ""
        let count = health.brokerReconnects
        let reconnects = count == 0 ? "" : ", \(counted(count, "reconnect")) since the start"
        return Finding(.broker, .ok, "connected\(version)\(node)\(reconnects)")
    }

    private var bridgeFinding: Finding {
        let troubles = problems([.stateNotSaved, .metricsNotWritten, .stateDamaged, .idTaken])
        guard troubles.isEmpty else {
            let remedies = Set(health.unwritable.map(\.remedy)).sorted()
            let hasTakenID = !problems([.idTaken]).isEmpty
            return Finding(
                .bridge, .warning, ([introduction] + troubles).joined(separator: "; "),
                remedies: remedies
                    + (hasTakenID ? ["give each tag an id of its own in the configuration"] : []))
        }
        return Finding(.bridge, .ok, introduction)
    }

    private var firmwareFinding: Finding { .firmware(ofBadTags: problems([.badFirmware])) }

    private var duplicatesFinding: Finding {
        let texts = problems([.duplicateSerial])
        guard texts.isEmpty else {
            return Finding(
                .duplicateSerials, .warning, texts.joined(separator: "; "),
                remedies: ["jacquard2mqtt status", "set address and id of each of your tags in the configuration"])
        }
        return Finding(.duplicateSerials, .ok, "no serial of a tag is received from two devices")
    }

    private var discoveryFinding: Finding {
        if let fault = stack.fault {
            guard fault.check != .discovery else { return Finding(fault) }
            return Finding(.discovery, .failed, "the bridge cannot scan: \(fault.text)", remedies: fault.remedies)
        }
        if let obstacle = stack.obstacle {
            return Finding(.discovery, .failed, "the bridge cannot scan: \(obstacle.text)", remedies: [obstacle.hint])
        }
        guard stack.bluetooth == .poweredOn else {
            return Finding(
                .discovery, .failed, "the bridge cannot scan: the state of Bluetooth is unknown",
                remedies: ["ask again in ten seconds"])
        }
        if let adapter = stack.adapters?.first(where: \.isDiscovering) {
            return Finding(.discovery, .ok, "\(adapter.id) is scanning")
        }
        guard tags.contains(where: { $0.link.intent.isWanted && !$0.link.connection.state.isLinked }) else {
            return Finding(.discovery, .ok, "not scanning: there is no tag to wait for")
        }
        return Finding(
            .discovery, .warning, "not scanning now: a scan pauses while a tag is being connected",
            remedies: ["ask again in ten seconds"])
    }
}

// MARK: All tags

extension BridgeFindings {
    /// The number of tags that a finding names.
    private static let mostNamed = 20

    private func tagsFindings(_ bonds: [String: Bool]?) -> [Finding] {
        let all = tags.indices.map { position in
            TagFindings(tags[position], bonds, isConnectedElsewhere: elsewhere.contains(position), now: now)
        }
        return [
            connectedFinding,
            Self.summary(
                .bond, of: all.map(\.bond), tags.map(\.entry.id),
                "every tag that is known to BlueZ has a bond, or needs none",
                remedies: ["jacquard2mqtt pair SERIAL"]),
            Self.summary(
                .lastError, of: all.map(\.lastError), tags.map(\.entry.id), "no tag has failed to connect",
                remedies: ["jacquard2mqtt why ID"]),
        ]
    }

    private var connectedFinding: Finding {
        guard !tags.isEmpty else {
            return Finding(.tags, .ok, "the bridge has no tag", remedies: ["jacquard2mqtt pair SERIAL"])
        }
        let wanted = tags.indices.filter { tags[$0].link.intent.isWanted && !elsewhere.contains($0) }
        let missing = wanted.filter { !tags[$0].isConnected }.map { tags[$0].entry.id.text }
        guard let first = missing.first else {
            return Finding(.tags, .ok, "\(tags.count) known, and each one that should be connected is")
        }
        return Finding(
            .tags, .warning, "\(missing.count) of \(tags.count) are not connected: \(Self.list(missing))",
            remedies: ["jacquard2mqtt why \(first)"])
    }

    /// Joins findings about several tags to one.
    private static func summary(
        _ check: Check, of findings: [Finding], _ ids: [TagID], _ good: String, remedies: [String]
    ) -> Finding {
        let bad = zip(ids, findings).filter { $1.verdict == .warning || $1.verdict == .failed }
        guard let first = bad.first else { return Finding(check, .ok, good) }
        let texts = bad.map { "\($0): \($1.found)" }
        let remedies = bad.count == 1 ? first.1.remedies : remedies
        return Finding(check, .warning, list(texts, separator: "; "), remedies: remedies)
    }

    private static func list(_ texts: [String], separator: String = ", ") -> String {
        let rest = texts.count - mostNamed
        return texts.prefix(mostNamed).joined(separator: separator) + (rest > 0 ? " and \(rest) more" : "")
    }
}
