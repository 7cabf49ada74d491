extension Configuration {
    /// What a command means that leaves something open.
    struct Defaults: Hashable, Sendable {
        /// The keys of `defaults`.
        enum Key: String, ConfigurationKey {
            case ledOn = "led_on_s"
        }

        /// How long the LED stays lit after a plain `on`.
        var ledOn: Duration = .seconds(10)
    }

    /// How much may pile up before something is dropped or refused.
    struct Limits: Hashable, Sendable {
        /// The keys of `limits`.
        enum Key: String, ConfigurationKey {
            case gesturesWhileBrokerAway = "gestures_while_broker_away_s"
            case commandsPerTag = "commands_per_tag"
        }

        /// How long a gesture waits for the broker before it is dropped.
        var gesturesWhileBrokerAway: Duration = .seconds(5)
        /// How many commands may wait for one tag; further ones are answered `busy`.
        var commandsPerTag = 32
    }
}
