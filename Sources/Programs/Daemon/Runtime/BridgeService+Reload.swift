import Bluetooth
import Bridge
import Configuration
import EventLoop
import JacquardProtocol
import Logging
import MQTT
import Tags
import Text

/// Applies a reloaded configuration to the running service.
extension BridgeService {
    /// Applies the differences, and nothing else.
    ///
    /// - Returns: the number of changes.
    func adopt(_ new: Settings) async -> Int {
        let paired = StoredTag.paired(among: store.tags.values).map { TagSettings(serial: $0.serial, id: $0.id) }
        let known = Set(bridge.knownTags.map(\.entry.id))
        let changes = configuration.changes(to: new, paired: paired, known: known)
        let old = configuration
        configuration = new.keepingStartValues(of: old)
        // Stored even if no tag is added or removed, because commands check whether a tag is listed.
        let isConnected = client.isConnected
        for change in changes where change.isDeparture { await make(change, from: old) }
        runs.published(at: PublishedPlace(configuration.bridgeConfiguration), isTakenBack: isConnected)
        handle(.configurationChanged(configuration.bridgeConfiguration, isBrokerConnected: isConnected))
        for change in changes where !change.isDeparture { await make(change, from: old) }
        // The bridge reports a paired tag whose id another one has now.
        let ids = Set(configuration.tags.map(\.id))
        for tag in paired where ids.contains(tag.id) { handle(.tagAdded(tag.entry, record: nil)) }
        return changes.count
    }

    private func make(_ change: ConfigurationChange, from old: Settings) async {
        switch change {
        case .tagRemoved(let id):
            reloadLog.notice("a tag was removed from the configuration", [(.tag, id.text)])
            handle(.tagRemoved(id))
        case .settings: reloadLog.notice("settings have changed")
        case .gear:
            reloadLog.notice("gear configuration changed")
            manager.catalogue = configuration.catalogue
        case .tagChanged(let tag):
            reloadLog.notice("a tag has other settings", [(.tag, tag.id.text)])
            handle(.tagChanged(tag.entry))
        case .tagAdded(let tag): add(tag)
        case .logLevel(let level):
            sink.level = level
            reloadLog.notice("the log level has changed", [(.state, level.rawValue)])
        case .metricsFile(let file?):
            reloadLog.notice("metrics are written elsewhere", [(.path, file)])
            metrics.follow(configuration.metrics)
        case .metricsFile(nil):
            reloadLog.notice("metrics are not written any more")
            metrics.follow(configuration.metrics)
        case .metricsInterval:
            reloadLog.notice("metrics are written at another interval")
            metrics.follow(configuration.metrics)
        case .broker: await changeBroker(from: old)
        case .nextStart(let key):
            reloadLog.warning("the change of a setting takes effect at the next start", [(.setting, key)])
        }
    }

    private func add(_ tag: TagSettings) {
        let entry = tag.entry
        reloadLog.notice("a tag is listed", [(.tag, tag.id.text)])
        let record = store.tags[StoredTag.Key(entry)].map { batteries.complete($0.record) }
        handle(.tagAdded(entry, record: record))
    }

    private var reloadLog: Logger { log.labelled(ConfigurationReload.logLabel) }

    /// Disconnects from the broker and connects to the configured one, which may be the same with other settings.
    private func changeBroker(from old: Settings) async {
        reloadLog.notice("the broker is reached in another way")
        let isElsewhere = !old.mqtt.hasSameBroker(as: configuration.mqtt)
        if isElsewhere { handle(.leavingBroker) }
        let queued = isElsewhere ? outbox.left(at: .now) : []
        report(outbox.takeLosses())
        let footprint = bridge.footprint
        // Without a connection, the old broker has already published the will.
        let isConnected = send(queued + (isElsewhere ? footprint.offline : [bridge.will]), to: client)
        // Nothing may follow the will: what is queued goes to the new broker.
        outbox.disconnected(at: .now)
        handle(.brokerDisconnected)
        if isElsewhere { await takeBack(footprint, at: old.mqtt, isConnected: isConnected) }
        await client.stop()
        guard !isStopping else { return }
        client = newClient()
        follow(client)
        client.start()
    }
}

// MARK: Leaving a broker

extension BridgeService {
    /// How long Home Assistant has to remove devices before their topics are cleared.
    private static let pauseAfterWithdrawal = Duration.seconds(1)

    /// Publishes messages at a broker that the bridge leaves.
    ///
    /// - Returns: false without a connection.
    private func send(_ publications: [Publication], to client: MQTTClient) -> Bool {
        do throws(MQTTError) {
            for publication in publications { try client.publish(publication.message, ticket: 0) }
            return true
        } catch {
            return false
        }
    }

    /// Clears what the bridge has published at a broker that it leaves: the announcements, and a second later the facts. Takes
    /// at most that second, and the time of the client's end.
    private func takeBack(_ footprint: BrokerFootprint, at old: Settings.MQTT, isConnected: Bool) async {
        // Later messages are for the broker that the bridge goes to.
        client.onEvent = nil
        var isDone = isConnected && send(footprint.announcements, to: client)
        if isDone {
            if !footprint.announcements.isEmpty {
                let pause = FinishWaiter()
                await pause.wait(atMost: Self.pauseAfterWithdrawal)
            }
            isDone = send(footprint.facts, to: client)
        }
        guard !isDone else {
            return reloadLog.notice("retained topics are cleared at the former broker", [(.endpoint, old.place)])
        }
        let command = "JACQUARD2MQTT_MQTT__HOST=\(old.host) JACQUARD2MQTT_MQTT__PORT=\(old.port) jacquard2mqtt clear"
        reloadLog.warning(
            "the former broker keeps retained topics: it is not connected",
            [(.endpoint, old.place), (.reason, "when it is back: \(command)")])
    }
}

extension Settings.MQTT {
    fileprivate var place: String { "\(host):\(port)" }

    /// Whether both name one broker; another login or other certificates don't matter.
    fileprivate func hasSameBroker(as other: Settings.MQTT) -> Bool {
        host == other.host && port == other.port && hosts == other.hosts
    }
}

extension ConfigurationChange {
    /// Whether a tag is removed; the old settings name it.
    fileprivate var isDeparture: Bool {
        if case .tagRemoved = self { true } else { false }
    }
}
