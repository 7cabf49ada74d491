import Bridge
public import HomeAssistant
public import Text

extension Settings {
    /// The Bluetooth adapter and its time limits.
    public struct Bluetooth: Hashable, Sendable {
        /// The choice of an adapter.
        public enum Adapter: Hashable, Sendable {
            /// The first that is powered.
            case automatic
            /// The one with this name of the kernel, such as `hci0`.
            case name(String)
            /// The one with this address, such as `F0:00:00:00:00:01`; upper case.
            case address(String)
        }

        /// The adapter.
        public var adapter = Adapter.automatic
        /// Several radios in place of the adapter; nil: one.
        public var radios: [RadioSettings]?
        /// The time limit of one attempt to connect a tag.
        public var connectTimeout: Duration = .seconds(60)
        /// Whether the bridge may power-cycle a silent adapter.
        public var resetAdapter = false
    }

    /// The rows of `bluetooth`.
    static var bluetoothKeys: [ConfigurationKey<Settings>] {
        [
            .section(
                "bluetooth", "The Bluetooth adapter and its time limits.",
                relations: [.exclusive("adapter", "radios")]
            ).option("Bluetooth"),
            ConfigurationKey(
                "bluetooth.adapter", \.bluetooth.adapter, .adapter, .nextStart,
                "auto (the first one that is powered), a name such as hci0, or an address."
            ).example(
                comment: """
                    The adapter: auto (the first one that is powered), a name such as hci0, or an address.
                    """
            ).option("Adapter", "auto (the first one that is powered), a name such as hci0, or an address"),
            ConfigurationKey(
                "bluetooth.radios", \.bluetooth.radios, .radios, .nextStart,
                """
                Several radios in place of adapter: adapters of this host such as hci0, BlueZ of other computers, by ssh \
                or by the address of a bus, and Bluetooth proxies of ESPHome. The one that receives a tag best connects it.
                """
            ).example(
                """
                [hci0, { ssh: pi@hall.lan, name: hall, identity_file: /etc/jacquard2mqtt/ssh/hall }]
                """,
                comment: """
                    Several radios in place of adapter, up to 16: adapters of this host, BlueZ of other computers over \
                    SSH or on another bus, and Bluetooth proxies of ESPHome that nothing else uses ({ esphome: HOST, \
                    key_file: FILE, dedicated: true }). The one that receives a tag best connects it. Each radio needs a \
                    bond: "jacquard2mqtt pair TAG --radio NAME".
                    """, isAlternative: true
            ).withoutOption("the supervisor shows two levels of options"),
            ConfigurationKey(
                "bluetooth.connect_timeout_s", \.bluetooth.connectTimeout, .wholeSeconds(1...3600), .nextStart,
                "The time limit of one attempt to connect a tag, in seconds."
            ).option("Connection timeout"),
            ConfigurationKey(
                "bluetooth.reset_adapter", \.bluetooth.resetAdapter, .boolean, .nextStart,
                "true: switch an adapter off and on if it receives nothing. This also disconnects its other devices."
            ).option(
                "Reset the adapter",
                """
                Switch an adapter off and on if it receives nothing. This also disconnects its other devices
                """),
        ]
    }
}

extension Settings {
    /// The announcements for Home Assistant.
    public struct HomeAssistant: Hashable, Sendable {
        /// Whether tags are announced.
        public var discovery = true
        /// Home Assistant's discovery prefix.
        public var prefix = "homeassistant"
        /// The form of the announcements.
        public var form = HomeAssistantConfiguration.Form.device
        /// The topic of Home Assistant's birth message, which does not depend on ``prefix``.
        public var statusTopic = "homeassistant/status"
        /// The address of the web page; nil for none.
        public var page: String?
        /// Whether gestures are announced as presses of a button, too.
        public var buttons = false
        /// Whether the LED of a tag is one of the lights of its area.
        public var areaLight = false
    }

    /// The rows of `home_assistant`.
    static var homeAssistantKeys: [ConfigurationKey<Settings>] {
        [
            .section("home_assistant", "The announcements for Home Assistant.").option("Announcements"),
            ConfigurationKey(
                "home_assistant.discovery", \.homeAssistant.discovery, .boolean, .settings,
                "Whether to announce the tags to Home Assistant."
            ).option("Announce the tags to Home Assistant", "Default: yes"),
            ConfigurationKey(
                "home_assistant.prefix", \.homeAssistant.prefix, .topic, .settings,
                "Home Assistant's discovery prefix."
            ).option("Discovery prefix", "Default: homeassistant"),
            ConfigurationKey(
                "home_assistant.form", \.homeAssistant.form, .choice, .settings,
                """
                device: one message per tag, for Home Assistant 2024.11 and later. \
                single: one message per entity, for all releases.
                """
            ).option("Form", "device for Home Assistant 2024.11 and later, single for all releases"),
            ConfigurationKey(
                "home_assistant.status_topic", \.homeAssistant.statusTopic, .topic, .settings,
                "The topic of Home Assistant's birth message, which does not depend on the prefix."
            ).option("Status topic", "The topic of Home Assistant's birth message. Default: homeassistant/status"),
            ConfigurationKey(
                "home_assistant.page", \.homeAssistant.page, .pageAddress, .settings,
                """
                The address of the web page as browsers reach it, such as http://192.168.1.5:8377/. The bridge's device \
                links to it. Default: none.
                """
            ).example("http://192.168.1.5:8377/").option(
                "Address of the web page",
                """
                As browsers reach it, such as http://192.168.1.5:8377/. The device of the bridge links to it. \
                Default: none
                """),
            ConfigurationKey(
                "home_assistant.buttons", \.homeAssistant.buttons, .boolean, .settings,
                "true: announce the event Button, too, which has double_tap and cover as presses of a button."
            ).option(
                "Gestures as presses of a button",
                """
                Announces the event Button, too, which has double_tap and cover as presses of a button. Default: no
                """),
            ConfigurationKey(
                "home_assistant.area_light", \.homeAssistant.areaLight, .boolean, .settings,
                """
                true: the LED of a tag is one of the lights of its area, so that "all lights on" there switches it. \
                false: only a command that names the LED does.
                """
            ).option(
                "LED among the lights of its area",
                """
                Commands to all lights of an area switch the LEDs of its tags, too. Default: no
                """),
        ]
    }
}

extension Settings {
    /// Level and format of the log.
    public struct Log: Hashable, Sendable {
        /// The format of log messages.
        public enum Format: String, CaseIterable, Sendable {
            /// The journal if standard error is connected to it, otherwise text.
            case automatic = "auto"
            /// One line of text on standard error.
            case text
            /// One JSON object per line on standard error.
            case json
        }

        /// The log level.
        public var level = LogLevel.info
        /// The format.
        public var format = Format.automatic
    }

    /// The rows of `log`.
    static var logKeys: [ConfigurationKey<Settings>] {
        [
            .section("log", "Level and format of the log.").option("Log"),
            ConfigurationKey("log.level", \.log.level, .choice, .logLevel, "The log level.").example(
                comment: "The log level: error, warning, notice, info, debug, trace."
            ).option("Level", ""),
            ConfigurationKey(
                "log.format", \.log.format, .choice, .nextStart, "auto: the journal under systemd, otherwise text."
            ).example(comment: "auto (the journal under systemd, otherwise text), text, json.").withoutOption(
                "the supervisor shows text"),
        ]
    }
}

extension Settings {
    /// The rows of `defaults`.
    static var defaultsKeys: [ConfigurationKey<Settings>] {
        [
            .section("defaults", "Defaults of commands.").option("Defaults"),
            ConfigurationKey(
                "defaults.led_on_s", \.bridge.ledOn, .seconds(milliseconds: 100...3_600_000), .settings,
                "How long the LED stays on after a plain \"on\", in seconds."
            ).option("Duration of a plain \"on\"", "In seconds, 0.1 to 3600. Default: 10"),
            ConfigurationKey(
                "defaults.offline_after_s", \.bridge.offlineAfter, .seconds(milliseconds: 0...60_000), .settings,
                """
                How long a tag stays online in its topic availability after a link was lost that can be made again, in \
                seconds. Default: 0, and 5 with bluetooth.radios.
                """
            ).example(
                comment: """
                    How long a tag stays online in its topic availability after a link was lost that can be made again, \
                    in seconds, 0 to 60. Default: 0, and 5 with several radios.
                    """
            ).option(
                "Delay of \"offline\"",
                """
                How long a tag stays online after its link was lost, in seconds, 0 to 60. Default: 0
                """
            ).defaulting(hasUsualDefault: true) {
                $0.bridge.offlineAfter = $0.bluetooth.radios == nil ? .zero : .seconds(5)
            },
        ]
    }

    /// The rows of `limits`.
    static var limitsKeys: [ConfigurationKey<Settings>] {
        [
            .section("limits", "Limits of queues.").option("Limits"),
            ConfigurationKey(
                "limits.gestures_while_broker_away_s", \.bridge.gestureLifetime,
                .seconds(milliseconds: 0...300_000), .settings,
                "How long a gesture is kept while the broker is disconnected, in seconds."
            ).option("Gestures without a broker"),
            ConfigurationKey(
                "limits.commands_per_tag", \.bridge.commandsPerTag, .integer(1...1024), .settings,
                "The number of pending commands per tag; further ones get the error \"busy\"."
            ).option(
                "Commands per tag", "The number of pending commands; further ones get the error busy. Default: 32"),
        ]
    }
}

extension Settings {
    /// The rows of `fleet`.
    static var fleetKeys: [ConfigurationKey<Settings>] {
        [
            .section("fleet", "Several bridges on one base topic.").withoutOption("as mqtt.hosts"),
            ConfigurationKey(
                "fleet.watch", \.bridge.watchesFleet, .boolean, .settings,
                """
                true: watch other bridges, and publish "offline" for one that died together with its node of the \
                broker. Set it on all bridges.
                """),
        ]
    }
}

extension Settings {
    /// Metrics for Prometheus.
    public struct Metrics: Hashable, Sendable {
        /// The file for the textfile collector of node_exporter, which reads `*.prom`; nil: none.
        public var file: String?
        /// The interval between writes.
        public var interval: Duration = .seconds(30)

        /// Creates the settings of the section.
        public init(file: String? = nil, interval: Duration = .seconds(30)) {
            self.file = file
            self.interval = interval
        }
    }

    /// The rows of `metrics`.
    static var metricsKeys: [ConfigurationKey<Settings>] {
        [
            .section("metrics", "Metrics for Prometheus.").withoutOption(
                "no other program reads files of the container"),
            ConfigurationKey(
                "metrics.file", \.metrics.file, .metricsFile, .metrics,
                """
                The file for the textfile collector of Prometheus' node_exporter; the name ends with .prom. \
                Default: none.
                """
            ).example("/var/lib/prometheus/node-exporter/jacquard2mqtt.prom"),
            ConfigurationKey(
                "metrics.interval_s", \.metrics.interval, .wholeSeconds(5...3600), .metrics,
                "The interval between writes, in seconds."),
        ]
    }
}

extension Settings {
    /// The rows of `telemetry`.
    static var telemetryKeys: [ConfigurationKey<Settings>] {
        [
            .section("telemetry", "Traces for collectors such as OpenTelemetry.").withoutOption(
                "collectors of traces are no add-ons"),
            ConfigurationKey(
                "telemetry.trace", \.bridge.isTracing, .boolean, .settings,
                "true: gestures have the MQTT 5 user property traceparent (W3C Trace Context). MQTT 3.1.1 has none."),
        ]
    }
}

extension Settings {
    /// The recording of events for `replay`.
    public struct Record: Hashable, Sendable {
        /// How long events are kept; 0: none are recorded.
        public var hours = 0
    }

    /// The rows of `record`.
    static var recordKeys: [ConfigurationKey<Settings>] {
        [
            .section("record", "The recording of events for \"jacquard2mqtt replay-events\".").withoutOption(
                "replay is a command, and the add-on has no command line"),
            ConfigurationKey(
                "record.hours", \.record.hours, .integer(0...168), .nextStart,
                """
                How many hours the events of tags are kept in the file events.ring of the state folder, which has at most \
                4 MiB. 0: none are recorded.
                """
            ).example(
                "24",
                comment: """
                    How many hours the events of tags are kept in the file events.ring of the state folder for \
                    "jacquard2mqtt replay-events", 0 to 168. The file has at most 4 MiB. 0 (default): none are \
                    recorded.
                    """),
        ]
    }
}
