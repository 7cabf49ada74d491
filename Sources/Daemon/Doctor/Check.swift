import Configuration

/// What the doctor looks at, in the order of its report. The raw values are part of the public interface.
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

    /// What people call it.
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
