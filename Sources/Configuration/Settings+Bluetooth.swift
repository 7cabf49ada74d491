extension Configuration {
    /// Which radio, and how patient the bridge is with it.
    struct Bluetooth: Hashable, Sendable {
        /// The keys of `bluetooth`.
        enum Key: String, ConfigurationKey {
            case adapter
            case connectTimeout = "connect_timeout_s"
            case resetAdapter = "reset_adapter"
        }

        /// Which adapter carries the tags.
        enum Adapter: Hashable, Sendable {
            /// The first that is powered.
            case automatic
            /// The one with this name of the kernel, such as `hci0`.
            case name(String)
            /// The one with this address, such as `F0:00:00:00:00:01`; upper case.
            case address(String)
        }

        /// Which adapter.
        var adapter = Adapter.automatic
        /// How long one attempt to connect a tag may take.
        var connectTimeout: Duration = .seconds(60)
        /// Whether the bridge may switch a silent adapter off and on.
        var resetAdapter = false
    }
}
