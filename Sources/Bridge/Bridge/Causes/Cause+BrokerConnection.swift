/// Causes that keep a client from connecting to the broker. The text is that of the error in the log.
extension Cause {
    /// The broker refuses a session that outlasts its connection.
    public static func sessionRefused(_ text: String) -> Cause {
        Cause(
            .brokerRefuses, .brokerVersion, text,
            remedies: ["use a broker that keeps sessions, such as mosquitto; this one is not supported"])
    }

    /// Something at the broker's address took the connection, and did not answer as a broker does.
    ///
    /// - Parameters:
    ///   - text: the error, with host and port.
    ///   - port: the port.
    ///   - isHere: whether the address is one of this machine.
    /// - Returns: the cause.
    public static func brokerUnanswered(_ text: String, port: Int, isHere: Bool) -> Cause {
        Cause(
            .brokerStalled, .brokerReach, text,
            remedies: (isHere ? ["sudo ss -tlnp 'sport = :\(port)'"] : []) + [
                "check mqtt.port: something else than a broker may listen there, or a broker that hangs",
                "set mqtt.tls if the broker expects encryption at this port",
            ])
    }
}
