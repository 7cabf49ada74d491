import Bluetooth
import Bridge
import BrokerAccess
import CommandLine
import Configuration
import HomeAssistant
import JacquardProtocol
import Logging
import MQTT
import Tags
import Time

/// The settings in the words of each part.
extension Settings {
    /// For the bridge as a client of the broker.
    func client(will: Publication) -> MQTTConfiguration {
        var client = MQTTConfiguration(self, identifier: mqtt.clientID)
        client.will = will.message
        return client
    }

    /// For the mapping of tags to topics.
    var bridgeConfiguration: BridgeConfiguration {
        BridgeConfiguration(
            baseTopic: mqtt.baseTopic,
            instance: instance,
            clientID: mqtt.clientID,
            version: Version.current,
            tags: knownTags.map(\.entry),
            groups: tagsOfGroups,
            reflexes: reflexes.compactMap(\.reflex),
            homeAssistant: homeAssistant.discovery ? homeAssistant.parts : nil,
            discoveryPrefix: homeAssistant.prefix,
            radios: bluetooth.radios.map { $0.map(\.name) } ?? [],
            options: bridge)
    }

    /// For the connections.
    var timing: TagSession.Timing {
        var timing = TagSession.Timing()
        timing.connect = bluetooth.connectTimeout
        // A tag that walks from radio to radio has short links, and must not wait longer after each of them.
        if let radios = bluetooth.radios, radios.count > 1 { timing.stable = .seconds(2) }
        return timing
    }

    /// For the names and capabilities of gear: the built-in catalogue, then the configured products.
    var catalogue: GearCatalogue {
        GearCatalogue(GearCatalogue.builtIn.entries + gear.compactMap(\.entry))
    }

    /// Every configured tag, and the address where one is fixed.
    var knownTags: [(entry: TagEntry, address: BluetoothAddress?)] {
        tags.map { ($0.entry, $0.address.flatMap { BluetoothAddress($0) }) }
    }

    /// The records of known tags: configured, or paired by command.
    func records(of stored: [StoredTag.Key: StoredTag]) -> [TagRecord] {
        let listed = Set(tags.map { StoredTag.Key($0.entry) })
        let paired = StoredTag.paired(among: stored.values).filter { !listed.contains($0.key) }
        return (stored.values.filter { listed.contains($0.key) } + paired).sorted { $0.key < $1.key }.map(\.record)
    }

    /// The ids of listed tags that other tags had before.
    func reassignedIDs(in stored: [StoredTag.Key: StoredTag]) -> Set<TagID> {
        Set(tags.filter { tag in stored.keys.contains { $0.id == tag.id && $0.serial != tag.serial } }.map(\.id))
    }
}

extension Settings.HomeAssistant {
    /// For the announcements of the bridge.
    fileprivate var parts: HomeAssistantConfiguration {
        HomeAssistantConfiguration(
            prefix: prefix, form: form, statusTopic: statusTopic, page: page, hasButtons: buttons,
            isAreaLight: areaLight)
    }
}

extension ReflexSettings {
    /// For the mapping of tags to topics; never nil for one that was read, which was checked then.
    fileprivate var reflex: Reflex? {
        let triggers: [Reflex.Trigger?] = [
            event.map { .event($0) }, gear.map { .gear(isAttached: $0 == .attached) },
            batteryBelow.map { .batteryBelow(UInt32(clamping: $0)) },
            broker.map { .broker(isConnected: $0 == .back) },
        ]
        guard let trigger = triggers.compactMap(\.self).first, let request = try? ReflexRequest(request) else {
            return nil
        }
        return Reflex(on: trigger, from: Set(sources ?? []), to: tag, request: request, cooldown: cooldown)
    }
}

extension GearSettings {
    /// For the catalogue; never nil for one that was read, whose numbers were checked then.
    fileprivate var entry: GearCatalogue.Entry? {
        guard let vendorID = JacquardIdentifier(vendorID), let productID = JacquardIdentifier(productID) else {
            return nil
        }
        let known = GearCatalogue.builtIn.component(vendorID: vendorID, productID: productID, componentID: 0)
        let vendor = vendor ?? GearCatalogue.builtIn.vendorName(vendorID)
        return GearCatalogue.Entry(
            vendor: Component.Name(id: vendorID, name: vendor),
            product: Component.Name(id: productID, name: product ?? known.product.name),
            capabilities: capabilities.map { Set($0.map(\.capability)) } ?? known.capabilities)
    }
}

extension GearSettings.Capability {
    fileprivate var capability: JacquardProtocol.Capability {
        switch self {
        case .led: .led
        case .gesture: .gesture
        case .touchDataStream: .touchDataStream
        case .haptic: .haptic
        }
    }
}

extension TagSettings {
    /// For the mapping of tags to topics.
    var entry: TagEntry {
        TagEntry(id: id, serial: serial, name: name, connect: connect)
    }
}

extension AdapterFacts {
    /// The stack's facts of an adapter, as the bridge publishes them.
    init(_ adapter: Adapter) {
        self.init(
            id: adapter.id,
            address: adapter.address?.description,
            state: State(adapter.state),
            isDiscovering: adapter.isDiscovering,
            connectedCount: adapter.connectedCount,
            radio: adapter.radio)
        freeLinks = adapter.linkLimit.map { max(0, $0 - adapter.connectedCount) }
        error = adapter.fault?.text
        isTaken = adapter.fault?.isTaken ?? false
    }
}

extension AdapterFacts.State {
    /// The stack's word is the bridge's.
    init(_ state: CentralState) {
        self =
            switch state {
            case .unknown: .unknown
            case .resetting: .resetting
            case .unsupported: .unsupported
            case .unauthorized: .unauthorized
            case .poweredOff: .poweredOff
            case .poweredOn: .poweredOn
            }
    }
}

extension LogEntry {
    /// A record of the logger, as the bridge publishes it; nil for one without a time, which no ``LogTap`` has received.
    init?(_ record: LogRecord) {
        guard let time = record.time else { return nil }
        self.init(
            at: time.unixMilliseconds, level: record.level,
            label: record.label, message: record.message,
            fields: record.metadata.map { Field($0.key.name, $0.value) })
    }
}
