public import JSON

/// The checks of `doctor` and of `request/doctor`, in the order of the report. The raw values are part of the public
/// interface.
public enum Check: String, CaseIterable, Sendable {
    case configuration
    case systemBus = "system_bus"
    case bluetoothService = "bluetooth_service"
    case bluetoothPolicy = "bluetooth_policy"
    case bluezVersion = "bluez_version"
    case adapter
    case radio
    case snapTag = "snap_tag"
    case radioSwitch = "rfkill"
    case sharedChip = "wifi"
    case brokerName = "broker_name"
    case brokerReach = "broker_reach"
    case brokerTLS = "broker_tls"
    case brokerLogin = "broker_login"
    case brokerVersion = "broker_version"
    case brokerLimits = "broker_limits"
    case brokerPermissions = "broker_permissions"
    case homeAssistant = "home_assistant"
    case clock
    case stateFolder = "state_folder"
    case broker
    case bridge
    case firmware
    case discovery
    case duplicateSerials = "duplicate_serials"
    case tags
    case connectionPolicy = "connection_policy"
    case received
    case bond
    case link
    case lastError = "last_error"

    /// The name in the report for people.
    public var title: String {
        switch self {
        case .configuration: "configuration"
        case .systemBus: "system bus"
        case .bluetoothService: "bluetoothd"
        case .bluetoothPolicy: "bus policy"
        case .bluezVersion: "BlueZ version"
        case .adapter: "adapter"
        case .radio: "radio"
        case .snapTag: "snap tag"
        case .radioSwitch: "radio switch"
        case .sharedChip: "Wi-Fi"
        case .brokerName: "broker's name"
        case .brokerReach: "broker"
        case .brokerTLS: "encryption"
        case .brokerLogin: "login"
        case .brokerVersion: "MQTT version"
        case .brokerLimits: "broker's limits"
        case .brokerPermissions: "topics"
        case .homeAssistant: "Home Assistant"
        case .clock: "clock"
        case .stateFolder: "state folder"
        case .broker: "broker"
        case .bridge: "bridge"
        case .firmware: "firmware"
        case .discovery: "discovery"
        case .duplicateSerials: "duplicate serials"
        case .tags: "tags"
        case .connectionPolicy: "policy"
        case .received: "tag received"
        case .bond: "bond"
        case .link: "link"
        case .lastError: "last error"
        }
    }
}

/// The result of a check.
public struct Finding: Equatable, Sendable {
    /// From good to bad.
    public enum Verdict: String, CaseIterable, Sendable {
        /// Not checked: an earlier check failed, or the configuration makes it unnecessary.
        case skipped
        /// No problem.
        case ok
        /// The bridge works, but the user should know about this.
        case warning
        /// The bridge cannot work.
        case failed
    }

    /// The check.
    public let check: Check
    /// The verdict.
    public let verdict: Verdict
    /// The result: one sentence without a full stop.
    public let found: String
    /// The remedies: commands to copy, or sentences.
    public let remedies: [String]

    /// Creates a finding.
    public init(_ check: Check, _ verdict: Verdict, _ found: String, remedies: [String] = []) {
        self.check = check
        self.verdict = verdict
        self.found = found
        self.remedies = remedies
    }
}

extension Finding.Verdict {
    /// The worst verdict of findings; `ok` if every check was skipped.
    public static func worst(of findings: [Finding]) -> Finding.Verdict {
        let worst = findings.compactMap { allCases.firstIndex(of: $0.verdict) }.max() ?? 0
        return allCases[max(worst, 1)]
    }
}

extension Finding: JSONRecord {
    /// Adds `name`, `title`, `verdict`, `found` and `remedies`.
    public func addMembers(to object: inout JSONWriter) {
        object.add("found", found)
        object.add("name", check.rawValue)
        object.add("remedies", remedies)
        object.add("title", check.title)
        object.add("verdict", verdict.rawValue)
    }
}

extension Finding {
    /// Reports tags with a firmware that is known to be bad. At most a warning, because such tags work with restrictions.
    ///
    /// - Parameter texts: the problems of these tags, as `G/health` has them.
    /// - Returns: the finding.
    public static func firmware(ofBadTags texts: [String]) -> Finding {
        guard !texts.isEmpty else { return Finding(.firmware, .ok, "no tag is known to have a bad one") }
        return Finding(
            .firmware, .warning, texts.joined(separator: "; "),
            remedies: ["there are no updates any more: expect lost connections, and prefer another tag"])
    }
}

/// The result of an examination of the host by the driver.
public struct HostReport: Equatable, Sendable {
    /// The findings about the host, in the order of ``Check``.
    public var findings: [Finding]
    /// Whether a device has a bond with this host, by address; nil if BlueZ did not answer.
    public var bonds: [String: Bool]?

    /// Creates a report.
    public init(findings: [Finding], bonds: [String: Bool]? = nil) {
        self.findings = findings
        self.bonds = bonds
    }
}
