extension Settings.Bluetooth.Adapter {
    /// The value in the configuration file: `auto`, a name or an address.
    public var text: String {
        switch self {
        case .automatic: "auto"
        case .name(let text), .address(let text): text
        }
    }
}
