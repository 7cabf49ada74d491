import MQTT
import MQTTTypes

/// A packet of a client.
enum ClientPacket {
    /// The parameters of a CONNECT.
    struct Hello {
        let identifier: String
        let isCleanStart: Bool
        let version: MQTTVersion
        let keepAlive: Duration
        let sessionExpiry: Duration
        let will: MQTTMessage?
    }

    case connect(Hello)
    case publish(Int32, MQTTMessage)
    case acknowledge(Int32)
    case subscribe(Int32, [MQTTTopicFilter], MQTTQoS)
    case unsubscribe(MQTTTopicFilter)
    case ping
    case disconnect
}

/// A packet of the broker.
enum BrokerPacket {
    case accepted(isSessionPresent: Bool)
    case refused(UInt8)
    case publish(Int32, MQTTMessage)
    case acknowledged(Int32, UInt8)
    case subscribed(Int32, [UInt8])
    case pong
    case disconnect(UInt8)
}
