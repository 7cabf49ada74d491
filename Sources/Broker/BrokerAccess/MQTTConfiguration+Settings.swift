public import Configuration
public import MQTT

extension MQTTConfiguration {
    /// Creates the configuration of an MQTT client without a will.
    ///
    /// - Parameters:
    ///   - settings: the configuration of the program.
    ///   - identifier: the client ID.
    public init(_ settings: Settings, identifier: String) {
        let mqtt = settings.mqtt
        self.init(host: mqtt.host, port: UInt16(clamping: mqtt.port), clientIdentifier: identifier)
        nodes = mqtt.nodes.map { MQTTAddress(host: $0.host, port: UInt16(clamping: $0.port)) }
        service = mqtt.serviceDomain.map { ServiceLookup.name(of: $0, isEncrypted: mqtt.tls != nil) }
        // A node that does not answer must not keep the client from the others.
        if nodes.count > 1 || service != nil { connectDeadline = .seconds(4) }
        order = mqtt.order == .listed ? .listed : .spread(key: settings.instance)
        prefersFirst = mqtt.prefersFirst
        version =
            switch mqtt.version {
            case .automatic: .automatic
            case .v5: .v5
            case .v311: .v311
            }
        username = mqtt.username
        password = mqtt.password?.value
        keepAlive = mqtt.keepalive
        tls = mqtt.tls.map {
            MQTTConfiguration.TLS(
                caFile: $0.authorityFile, certificateFile: $0.certificateFile, keyFile: $0.keyFile,
                isInsecure: $0.isInsecure)
        }
    }
}
