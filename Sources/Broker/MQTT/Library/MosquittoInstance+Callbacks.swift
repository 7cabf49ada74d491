internal import CMosquitto
internal import EventLoop
internal import Glibc
import MQTTTypes
internal import Synchronization

extension MosquittoInstance {
    /// Each callback copies what it is given and leaves it with the instance. All but the log's are called on the loop,
    /// out of ``read()``, ``write()`` and ``probe()``. They belong to no actor, as the method in which they are written down.
    nonisolated func registerCallbacks() {
        // The instance destroys the library's object before it goes, so the pointer is good for as long as there are calls.
        mosquitto_user_data_set(pointer, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_log_callback_set(pointer, keepComplaint)
        mosquitto_connect_v5_callback_set(pointer) { _, context, reason, flags, properties in
            guard let context else { return }
            LoopActor.assumeIsolated((context, reason, flags, ReceivedProperties(head: properties))) {
                MosquittoInstance.of($0).answered($1, $2, $3)
            }
        }
        mosquitto_disconnect_v5_callback_set(pointer) { _, context, reason, _ in
            guard let context else { return }
            LoopActor.assumeIsolated((context, reason, errno)) { MosquittoInstance.of($0).disconnected($1, $2) }
        }
        mosquitto_message_v5_callback_set(pointer) { _, context, message, properties in
            guard let context, let message else { return }
            let received = MQTTMessage(message.pointee, ReceivedProperties(head: properties))
            LoopActor.assumeIsolated((context, received)) { MosquittoInstance.of($0).note(.message($1)) }
        }
        mosquitto_publish_v5_callback_set(pointer) { _, context, identifier, reason, _ in
            guard let context else { return }
            let reason = MQTTReasonCode(rawValue: UInt8(clamping: reason))
            LoopActor.assumeIsolated((context, identifier, reason)) {
                MosquittoInstance.of($0).note(.published($1, $2))
            }
        }
        mosquitto_subscribe_v5_callback_set(pointer) { _, context, identifier, count, granted, _ in
            guard let context else { return }
            let reasons = UnsafeBufferPointer(start: granted, count: granted == nil ? 0 : Int(count))
                .map { MQTTReasonCode(rawValue: UInt8(clamping: $0)) }
            LoopActor.assumeIsolated((context, identifier, reasons)) {
                MosquittoInstance.of($0).note(.subscribed($1, $2))
            }
        }
    }

    /// Ends the library's log: it would format a line for every packet.
    func stopListeningToLog() {
        mosquitto_log_callback_set(pointer, nil)
    }

    private func answered(_ reason: CInt, _ flags: CInt, _ properties: ReceivedProperties) {
        let code = MQTTReasonCode.connectionRefusal(UInt8(clamping: reason))
        guard code.rawValue == 0 else { return note(end: code.error("the broker refuses the connection")) }
        note(
            .accepted(
                isSessionPresent: flags & 1 != 0, keepAlive: properties.shortNumber(MQTT_PROP_SERVER_KEEP_ALIVE),
                // 0 is forbidden.
                receiveMaximum: properties.shortNumber(MQTT_PROP_RECEIVE_MAXIMUM).map { max(1, $0) },
                limits: BrokerLimits(properties)))
    }

    /// The reason is a code of the broker or a status of the library; their numbers do not meet.
    private func disconnected(_ reason: CInt, _ number: CInt) {
        let code = MQTTReasonCode(rawValue: UInt8(clamping: reason))
        if code.isFailure {
            note(end: code.error("the broker ends the connection"))
        } else if reason == MOSQ_ERR_SUCCESS.rawValue {
            note(end: MQTTError(.connectionLost, "the broker ended the connection without a reason"))
        } else {
            note(end: error(for: reason, errno: number))
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer) -> MosquittoInstance {
        Unmanaged.fromOpaque(context).takeUnretainedValue()
    }
}

extension BrokerLimits {
    fileprivate init(_ properties: ReceivedProperties) {
        self.init()
        maximumPacketSize = properties.number(MQTT_PROP_MAXIMUM_PACKET_SIZE).map { Int($0) }
        if let qos = properties.byte(MQTT_PROP_MAXIMUM_QOS) { maximumQoS = Int(qos) }
        if let flag = properties.byte(MQTT_PROP_RETAIN_AVAILABLE) { isRetainAvailable = flag != 0 }
        if let flag = properties.byte(MQTT_PROP_WILDCARD_SUB_AVAILABLE) { hasWildcards = flag != 0 }
    }
}

extension MQTTMessage {
    /// A copy of what the library holds until the callback returns. Text is repaired where it is not UTF-8.
    fileprivate init(_ message: mosquitto_message, _ properties: ReceivedProperties) {
        self.init(
            topic: message.topic.map { String(cString: $0) } ?? "",
            payload: Array(UnsafeRawBufferPointer(start: message.payload, count: Int(max(0, message.payloadlen)))),
            qos: message.qos == 0 ? .atMostOnce : .atLeastOnce,
            isRetained: message.retain,
            messageExpirySeconds: properties.number(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL),
            responseTopic: properties.text(MQTT_PROP_RESPONSE_TOPIC),
            correlationData: properties.bytes(MQTT_PROP_CORRELATION_DATA))
    }
}

/// Keeps warnings and errors of the library's log. Called on the helper thread too, so it belongs to no actor.
private func keepComplaint(
    _ library: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ level: CInt, _ line: UnsafePointer<CChar>?
) {
    guard let context, let line, level & CInt(MOSQ_LOG_ERR | MOSQ_LOG_WARNING) != 0 else { return }
    let owner = Unmanaged<MosquittoInstance>.fromOpaque(context).takeUnretainedValue()
    owner.complaints.withLock { complaints in
        if complaints.count < MosquittoInstance.mostComplaints { complaints.append(String(cString: line)) }
    }
    // The library frees its side of OpenSSL before it returns: this is the last moment to ask.
    guard let library, let result = CertificateFinding.verifyResult(of: library) else { return }
    owner.certificate.max(result, ordering: .relaxed)
}
