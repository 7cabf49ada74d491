internal import CMosquitto
internal import EventLoop
internal import Glibc
import MQTTTypes

extension MosquittoInstance {
    /// The largest packet that the broker may send. Commands have at most 4 KiB; the limit bounds memory.
    ///
    /// A broker silently drops larger packets, so their sender gets no `payload_too_large`. MQTT 3.1.1 has no such
    /// limit.
    private static let maximumPacketSize: UInt32 = 256 * 1024

    /// How many QoS 1 messages may be on their way. A broker's receive maximum takes its place (handle_connack.c); what
    /// is above waits in the library.
    private static let maximumInFlight: UInt32 = 1000

    /// The largest file for TLS, in bytes; the certificates of all public authorities together take a quarter of a megabyte.
    private nonisolated static let maximumFileSize = 4 << 20

    /// How many QoS 1 messages the broker may send without our acknowledgement (MQTT 5). A command has at most two results
    /// at once, and brokers take 20 messages or more: so held-back commands cannot outnumber the results that leave with
    /// their acknowledgements, see ``MQTTConnection/withholdsAcknowledgements``.
    private static let receiveMaximum: CInt = 10

    func configure(_ configuration: MQTTConfiguration, _ plan: BrokerLinkPlan) throws(MQTTError) {
        let version = plan.version
        // The version comes first: other settings are checked against it.
        try set(MOSQ_OPT_PROTOCOL_VERSION, version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311)
        try set(MOSQ_OPT_TCP_NODELAY, 1)
        try set(MOSQ_OPT_RECEIVE_MAXIMUM, Self.receiveMaximum)
        try check(mosquitto_max_inflight_messages_set(pointer, Self.maximumInFlight), "the number in flight")
        // "Threaded" to the library means that a publish only queues and another thread writes. Here the loop does, once
        // a turn, between two of its own calls. It changes nothing else (packet_mosq.c, packet__queue). Measured with
        // twenty messages a turn: 13 % less CPU than writing at once; TCP_CORK around the writes gained nothing.
        try check(mosquitto_threaded_set(pointer, true), "the way of writing")
        try check(
            mosquitto_username_pw_set(pointer, configuration.username, configuration.password), "user name and password"
        )
        if let will = configuration.will, !plan.isDiscardOnly { try set(will) }
        if version == .v5 { try setProperties(configuration, plan) }
    }

    private nonisolated func set(_ option: mosq_opt_t, _ value: CInt) throws(MQTTError) {
        try check(mosquitto_int_option(pointer, option, value), "option \(option.rawValue)")
    }

    private func set(_ will: MQTTMessage) throws(MQTTError) {
        guard let count = UInt16(exactly: will.payload.count) else {
            throw MQTTError(.invalidConfiguration, "the will is longer than 65,535 bytes")
        }
        let status = mosquitto_will_set(
            pointer, will.topic, CInt(count), will.payload, CInt(will.qos.rawValue), will.isRetained)
        try check(status, "the will")
    }

    /// Sets TLS up. Blocks for as long as the disk does: for the helper, before the connection begins.
    nonisolated func set(_ tls: MQTTConfiguration.TLS) throws(MQTTError) {
        for file in [tls.caFile, tls.certificateFile, tls.keyFile].compactMap(\.self) { try Self.checkReadable(file) }
        if tls.caFile == nil { try set(MOSQ_OPT_TLS_USE_OS_CERTS, 1) }
        // The library insists on a file or a folder; beside the system's store the folder adds nothing.
        let folder = tls.caFile == nil ? "/etc/ssl/certs" : nil
        // For a key that is encrypted the answer is an empty password: OpenSSL would else ask at the terminal.
        let status = mosquitto_tls_set(pointer, tls.caFile, folder, tls.certificateFile, tls.keyFile, noPassword)
        try check(status, "certificate and key, which go together")
        try check(mosquitto_tls_insecure_set(pointer, tls.isInsecure), "the host name check")
    }

    /// Checks the files first: the library would block forever on a FIFO without a writer.
    private nonisolated static func checkReadable(_ file: String) throws(MQTTError) {
        let descriptor = Glibc.open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw MQTTError(.tls, "cannot read \(file): " + MQTTError.text(of: errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw MQTTError(.tls, "cannot read \(file): it is not a regular file")
        }
        guard status.st_size <= maximumFileSize else {
            throw MQTTError(.tls, "cannot read \(file): it is larger than \(maximumFileSize) bytes")
        }
    }

    private func setProperties(_ configuration: MQTTConfiguration, _ plan: BrokerLinkPlan) throws(MQTTError) {
        var properties = PropertyList()
        // What a connection that only discards has begun ends with it, so that the next one begins a session of its own.
        let expiry = plan.isDiscardOnly ? 0 : configuration.sessionExpirySeconds
        try properties.add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, expiry)
        try properties.add(MQTT_PROP_MAXIMUM_PACKET_SIZE, Self.maximumPacketSize)
        // The call that connects without blocking takes no properties, but uses those of an earlier call. This one keeps
        // a copy, finds that there is no port -1, and ends before it touches the network (connect.c).
        let status = mosquitto_connect_bind_v5(
            pointer, configuration.address.host, -1, configuration.keepAliveSeconds, nil, properties.pointer)
        if status != MOSQ_ERR_INVAL.rawValue { try check(status, "session expiry") }
    }

    private nonisolated func check(_ status: CInt, _ what: String) throws(MQTTError) {
        guard status != MOSQ_ERR_SUCCESS.rawValue else { return }
        let error = MQTTError(library: status)
        throw MQTTError(.invalidConfiguration, "\(what): \(error.text)", underlying: error.underlying)
    }
}

extension MQTTConfiguration {
    /// In the range that the library takes: 5...65,535.
    var keepAliveSeconds: CInt { CInt(clamping: min(max(keepAlive.components.seconds, 5), 65_535)) }

    var sessionExpirySeconds: UInt32 { UInt32(clamping: sessionExpiry.components.seconds) }
}

/// Called by OpenSSL on the helper thread, so it belongs to no actor.
private func noPassword(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: CInt, _ isForWriting: CInt, _ context: UnsafeMutableRawPointer?
) -> CInt { 0 }
