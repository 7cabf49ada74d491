internal import CMosquitto
internal import EventLoop
internal import Glibc
import MQTTTypes

extension MosquittoInstance {
    /// Reads what has come: at least one packet, and as many as there are messages in flight.
    func read() -> BrokerLinkOutcome {
        // The count is ignored by the library, which works out its own.
        outcome(mosquitto_loop_read(pointer, 1))
    }

    /// Writes all that is queued, as far as the socket takes it.
    func write() -> BrokerLinkOutcome {
        outcome(mosquitto_loop_write(pointer, 1))
    }

    /// Queues a probe if the library finds that one is due.
    func probe() -> BrokerLinkOutcome {
        outcome(mosquitto_loop_misc(pointer))
    }

    /// Queues a message.
    ///
    /// - Parameters:
    ///   - message: what to send.
    ///   - version: of the session; 3.1.1 has no properties.
    /// - Returns: the library's number of the message.
    /// - Throws: what is wrong with the message; nothing was queued then.
    func publish(_ message: MQTTMessage, _ version: MQTTVersion) throws(MQTTError) -> CInt {
        guard !message.topic.containsNUL, let count = CInt(exactly: message.payload.count) else {
            throw MQTTError(.invalidMessage, "a topic has no NUL")
        }
        let properties = version == .v5 ? try Self.properties(of: message) : PropertyList()
        var identifier: CInt = 0
        let status = Self.publish(message, count, properties.pointer, by: pointer, &identifier)
        guard status == MOSQ_ERR_SUCCESS.rawValue else { throw MQTTError(publishing: status) }
        return identifier
    }

    /// Lends the topic's own bytes to the library: as an argument of type `String` it would be copied first. Belongs to no
    /// actor, as a closure that does is checked by the runtime when the standard library takes it.
    private nonisolated static func publish(
        _ message: MQTTMessage, _ count: CInt, _ properties: OpaquePointer?, by library: OpaquePointer,
        _ identifier: inout CInt
    ) -> CInt {
        message.topic.withCString { topic in
            mosquitto_publish_v5(
                library, &identifier, topic, count, message.payload, CInt(message.qos.rawValue), message.isRetained,
                properties)
        }
    }

    /// Queues a subscription to filters of one quality of service, and gives the library's number of the request.
    func subscribe(to filters: [MQTTTopicFilter], _ qos: MQTTQoS) throws(MQTTError) -> CInt {
        // The retain flag as the sender set it: a command with it can be refused when it comes, not only when it is
        // delivered once more after the next connection. The library leaves the option out with MQTT 3.1.1.
        let options = CInt(MQTT_SUB_OPT_RETAIN_AS_PUBLISHED.rawValue)
        var identifier: CInt = 0
        let texts = filters.map { strdup($0.description) }
        defer { texts.forEach { free($0) } }
        let status = mosquitto_subscribe_multiple(
            pointer, &identifier, CInt(texts.count), texts, CInt(qos.rawValue), options, nil)
        guard status == MOSQ_ERR_SUCCESS.rawValue else { throw MQTTError(publishing: status) }
        return identifier
    }

    /// Queues the end of a subscription.
    func unsubscribe(from filter: MQTTTopicFilter) throws(MQTTError) {
        let status = mosquitto_unsubscribe(pointer, nil, filter.description)
        guard status == MOSQ_ERR_SUCCESS.rawValue else { throw MQTTError(publishing: status) }
    }

    /// Queues the end; the library closes the socket once it is written.
    func disconnect() {
        _ = mosquitto_disconnect(pointer)
    }

    private func outcome(_ status: CInt) -> BrokerLinkOutcome {
        BrokerLinkOutcome(status: status, number: errno)
    }

    private static func properties(of message: MQTTMessage) throws(MQTTError) -> PropertyList {
        var properties = PropertyList()
        if let seconds = message.messageExpirySeconds {
            try properties.add(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, seconds)
        }
        if let topic = message.responseTopic { try properties.add(MQTT_PROP_RESPONSE_TOPIC, topic) }
        if let data = message.correlationData { try properties.add(MQTT_PROP_CORRELATION_DATA, data) }
        if let property = message.userProperty { try properties.add(property) }
        return properties
    }
}
