public import GATTRecording
public import JacquardProtocol
public import MQTTTypes

/// An event that the driver reports to ``BridgeState/handle(_:at:_:)``.
public enum BridgeEvent: Equatable, Sendable {
    // MARK: The bridge

    /// The bridge has started. Reported once, before all other events.
    case started
    /// The bridge is about to stop. All later events are ignored.
    case stopping
    /// The ``BridgeState/deadline`` has passed.
    case deadlineReached
    /// An action with a token has ended, except commands to a tag. Unknown tokens are ignored.
    case requestEnded(token: UInt64, Result<RequestResponse, RequestError>)
    /// The process was measured. Report this about once a minute, because some problems end with time.
    case measured(HealthMeasurement)
    /// Log records, in order, and the number of those that the driver has omitted.
    case logged([LogEntry], omitted: Int)

    // MARK: The configuration

    /// Settings of Home Assistant, defaults and limits have changed. The list of configured tags is only stored: added,
    /// changed and removed tags are separate events.
    ///
    /// - Parameters:
    ///   - configuration: the settings; base topic and instance must be those of the start.
    ///   - isBrokerConnected: whether Home Assistant can be notified immediately.
    indirect case configurationChanged(BridgeConfiguration, isBrokerConnected: Bool)
    /// A tag was added to the configuration; ignored if its id exists.
    ///
    /// - Parameters:
    ///   - entry: the tag.
    ///   - record: its stored record; nil for a new tag.
    indirect case tagAdded(TagEntry, record: TagRecord? = nil)
    /// The name or the connection policy of a tag has changed; ignored for an unknown id.
    case tagChanged(TagEntry)
    /// A tag was removed from the configuration; it keeps its bond. Ignored for an unknown id.
    case tagRemoved(TagID)

    // MARK: Tags

    /// An event of a tag's session; ignored for an unknown tag.
    case tag(TagHandle, TagEvent)
    /// Facts about a tag from the Bluetooth stack; ignored for an unknown tag.
    case sighting(TagHandle, TagSighting)
    /// A tag, known or not, advertises or is connected to the host. Facts about known tags are separate events.
    case advertisement(TagAdvertisement)
    /// Several devices have one serial. Repeated while the condition lasts; the problem ends some time after the last
    /// report.
    case duplicateSerial(String, addresses: [String])
    /// A pairing has reached a stage; ignored for a tag that is not being paired.
    case pairing(TagHandle, PairingStage)

    /// The result of ``BridgeAction/file(_:_:of:)``; ignored for an unknown tag.
    indirect case file(TagID, FeatureFile, FeatureFileEvent)

    /// An event of the Bluetooth traffic with a tag, requested by ``BridgeAction/recordTraffic(of:)``.
    indirect case traffic(TagHandle, TrafficRecord.Event)

    /// An event of several radios about a tag; ignored for an unknown tag.
    indirect case radio(TagHandle, RadioEvent)

    // MARK: Bluetooth

    /// The state of Bluetooth. Report the first state and every change, after the Bluetooth stack has processed it.
    case bluetooth(AdapterFacts.State)
    /// Why Bluetooth cannot be used, or not fully; nil if it can. Report it before the events that follow from it.
    indirect case bluetoothFault(Cause?)
    /// The list of adapters has changed.
    case adapters([AdapterFacts])
    /// The version of the Bluetooth stack, such as `5.66`; nil while it is not running.
    case bluezVersion(String?)
    /// A requested scan has ended unexpectedly; ignored if none was running.
    case scanEnded

    // MARK: The broker

    /// The broker has no session of this bridge. Precedes ``brokerConnected``.
    case brokerHasNoSession
    /// The bridge leaves its broker for another one. Reported before the connection ends.
    case leavingBroker
    /// The broker is connected and the subscriptions are made.
    case brokerConnected
    /// The connection to the broker has ended, or an attempt to connect has failed.
    case brokerDisconnected
    /// The broker has ended the connection because another client has connected with the bridge's client identifier. Precedes
    /// ``brokerDisconnected``.
    case identifierTaken
    /// The protocol level of the broker connection: 5, or 4 for MQTT 3.1.1; and the node, if the broker has several.
    case brokerProtocol(Int, node: String? = nil)
    /// The broker has delivered a message.
    case message(MQTTMessage)
    /// The broker has refused a subscription: no messages arrive for the filter until the next connection.
    case subscriptionRefused(filter: String)
    /// The broker has granted a subscription that it had refused.
    case subscriptionGranted(filter: String)
    /// The broker has refused a message to one of the bridge's topics.
    ///
    /// - Parameters:
    ///   - topic: the topic of the message.
    ///   - reason: the broker's reason, such as `not_authorized`.
    ///   - size: the size of a message that is too large; nil for other reasons.
    case messageRefused(topic: String, reason: String, size: MessageSize? = nil)
    /// The ``Outbox`` has lost messages (``Outbox/takeLosses()``).
    ///
    /// - Parameters:
    ///   - losses: the losses.
    ///   - bytes: the sizes of facts for which the broker has closed connections, by topic.
    case messagesLost(Outbox.Losses, bytes: [String: Int] = [:])
}
