public import Configuration
public import MQTT

extension Settings {
    /// Returns the configuration of an MQTT client.
    ///
    /// - Parameter identifier: its client ID.
    /// - Returns: the configuration, without a will.
    public func client(identifier: String) -> MQTTConfiguration {
        var client = MQTTConfiguration(
            host: mqtt.host, port: UInt16(clamping: mqtt.port), clientIdentifier: identifier)
        client.nodes = mqtt.nodes.map { MQTTAddress(host: $0.host, port: UInt16(clamping: $0.port)) }
        client.service = mqtt.serviceDomain.map { ServiceLookup.name(of: $0, isEncrypted: mqtt.tls != nil) }
        // A node that does not answer must not keep the client from the others.
        if client.nodes.count > 1 || client.service != nil { client.connectDeadline = .seconds(4) }
        client.order = mqtt.order == .listed ? .listed : .spread(key: instance)
        client.prefersFirst = mqtt.prefersFirst
        client.version =
            switch mqtt.version {
            case .automatic: .automatic
            case .v5: .v5
            case .v311: .v311
            }
        client.username = mqtt.username
        client.password = mqtt.password?.value
        client.keepAlive = mqtt.keepalive
        client.tls = mqtt.tls.map {
            MQTTConfiguration.TLS(
                caFile: $0.authorityFile, certificateFile: $0.certificateFile, keyFile: $0.keyFile,
                isInsecure: $0.isInsecure)
        }
        return client
    }
}
