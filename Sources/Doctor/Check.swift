/// The checks in the order of the report. The raw values are part of the public interface.
enum Check: String, CaseIterable, Sendable {
    case configuration
    case systemBus = "system_bus"
    case bluetoothService = "bluetooth_service"
    case bluetoothPolicy = "bluetooth_policy"
    case bluezVersion = "bluez_version"
    case adapter
    case radioSwitch = "rfkill"
    case sharedChip = "wifi"
    case brokerName = "broker_name"
    case brokerReach = "broker_reach"
    case brokerTLS = "broker_tls"
    case brokerLogin = "broker_login"
    case brokerVersion = "broker_version"
    case brokerPermissions = "broker_permissions"
    case homeAssistant = "home_assistant"
    case clock
    case stateFolder = "state_folder"
    case bridge
    case firmware

    /// The name in the report for people.
    var title: String {
        switch self {
        case .configuration: "configuration"
        case .systemBus: "system bus"
        case .bluetoothService: "bluetoothd"
        case .bluetoothPolicy: "bus policy"
        case .bluezVersion: "BlueZ version"
        case .adapter: "adapter"
        case .radioSwitch: "radio switch"
        case .sharedChip: "Wi-Fi"
        case .brokerName: "broker's name"
        case .brokerReach: "broker"
        case .brokerTLS: "encryption"
        case .brokerLogin: "login"
        case .brokerVersion: "MQTT version"
        case .brokerPermissions: "topics"
        case .homeAssistant: "Home Assistant"
        case .clock: "clock"
        case .stateFolder: "state folder"
        case .bridge: "bridge"
        case .firmware: "firmware"
        }
    }
}

/// The result of a check.
struct Finding: Hashable, Sendable {
    /// From good to bad.
    enum Verdict: String, CaseIterable, Sendable {
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
    let check: Check
    /// The verdict.
    let verdict: Verdict
    /// What was found: one sentence without a full stop.
    let found: String
    /// What to do about it: commands to copy, or sentences.
    let remedies: [String]

    /// Creates a finding.
    init(_ check: Check, _ verdict: Verdict, _ found: String, remedies: [String] = []) {
        self.check = check
        self.verdict = verdict
        self.found = found
        self.remedies = remedies
    }
}
