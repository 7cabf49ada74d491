extension Settings {
    /// Which radio, and how patient the bridge is with it.
    public struct Bluetooth: Hashable, Sendable {
        /// The keys of `bluetooth`.
        enum Key: String, ConfigurationKey {
            case adapter
            case connectTimeout = "connect_timeout_s"
            case resetAdapter = "reset_adapter"
        }

        /// Which adapter carries the tags.
        public enum Adapter: Hashable, Sendable {
            /// The first that is powered.
            case automatic
            /// The one with this name of the kernel, such as `hci0`.
            case name(String)
            /// The one with this address, such as `F0:00:00:00:00:01`; upper case.
            case address(String)
        }

        /// Which adapter.
        public var adapter = Adapter.automatic
        /// How long one attempt to connect a tag may take.
        public var connectTimeout: Duration = .seconds(60)
        /// Whether the bridge may switch a silent adapter off and on.
        public var resetAdapter = false
    }
}

extension Settings {
    /// How the tags are announced to Home Assistant.
    public struct HomeAssistant: Hashable, Sendable {
        /// The keys of `home_assistant`.
        enum Key: String, ConfigurationKey {
            case discovery, prefix, form
            case statusTopic = "status_topic"
        }

        /// How a tag is announced.
        public enum Form: String, CaseIterable, Sendable {
            /// One message for the whole tag; Home Assistant 2024.11 and later.
            case device
            /// One message for each entity; any release.
            case single
        }

        /// Whether tags are announced at all.
        public var discovery = true
        /// Home Assistant's discovery prefix.
        public var prefix = "homeassistant"
        /// How they are announced.
        public var form = Form.device
        /// Where Home Assistant says that it has started; `<prefix>/status` unless it is configured.
        public var statusTopic = "homeassistant/status"
    }
}

extension Settings {
    /// What a command means that leaves something open.
    public struct Defaults: Hashable, Sendable {
        /// The keys of `defaults`.
        enum Key: String, ConfigurationKey {
            case ledOn = "led_on_s"
        }

        /// How long the LED stays lit after a plain `on`.
        public var ledOn: Duration = .seconds(10)
    }

    /// How much may pile up before something is dropped or refused.
    public struct Limits: Hashable, Sendable {
        /// The keys of `limits`.
        enum Key: String, ConfigurationKey {
            case gesturesWhileBrokerAway = "gestures_while_broker_away_s"
            case commandsPerTag = "commands_per_tag"
        }

        /// How long a gesture waits for the broker before it is dropped.
        public var gesturesWhileBrokerAway: Duration = .seconds(5)
        /// How many commands may wait for one tag; further ones are answered `busy`.
        public var commandsPerTag = 32
    }
}

extension Settings {
    /// What is logged, and how it looks.
    public struct Log: Hashable, Sendable {
        /// The keys of `log`.
        enum Key: String, ConfigurationKey {
            case level, format
        }

        /// The least important message that is still written; the raw values are the words of the file, of
        /// `--log-level` and of `request/log_level`.
        public enum Level: String, CaseIterable, Sendable {
            case error, warning, notice, info, debug, trace
        }

        /// How a message is written.
        public enum Format: String, CaseIterable, Sendable {
            /// To the journal where standard error is one, else as text.
            case automatic = "auto"
            /// One line of text on standard error.
            case text
            /// One JSON object a line on standard error.
            case json
        }

        /// How much is logged.
        public var level = Level.info
        /// In which form.
        public var format = Format.automatic
    }
}

extension Settings {
    /// Numbers for a monitoring system.
    public struct Metrics: Hashable, Sendable {
        /// The keys of `metrics`.
        enum Key: String, ConfigurationKey {
            case file
            case interval = "interval_s"
        }

        /// Where they are written, for the textfile collector of node_exporter, which reads `*.prom`; nil: nowhere.
        public var file: String?
        /// From one writing to the next.
        public var interval: Duration = .seconds(30)

        /// Creates the settings of the section.
        public init(file: String? = nil, interval: Duration = .seconds(30)) {
            self.file = file
            self.interval = interval
        }
    }
}
