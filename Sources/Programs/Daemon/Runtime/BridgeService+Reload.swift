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
        configuration = new.keepingStartValues(of: configuration)
        // Stored even if no tag is added or removed, because commands check whether a tag is listed.
        let isConnected = client.isConnected
        for change in changes where change.isDeparture { await make(change) }
        runs.published(at: PublishedPlace(configuration.bridgeConfiguration), isTakenBack: isConnected)
        handle(.configurationChanged(configuration.bridgeConfiguration, isBrokerConnected: isConnected))
        for change in changes where !change.isDeparture { await make(change) }
        return changes.count
    }

    private func make(_ change: ConfigurationChange) async {
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
        case .broker: await changeBroker()
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
    private func changeBroker() async {
        reloadLog.notice("the broker is reached in another way")
        do throws(MQTTError) {
            try client.publish(bridge.will.message, ticket: 0)
        } catch {
            // Without a connection, the old broker has already published the will.
        }
        // Nothing may follow the will: what is queued goes to the new broker.
        outbox.disconnected(at: .now)
        handle(.brokerDisconnected)
        await client.stop()
        guard !isStopping else { return }
        client = newClient()
        follow(client)
        client.start()
    }
}

extension ConfigurationChange {
    /// Whether a tag is removed; the old settings name it.
    fileprivate var isDeparture: Bool {
        if case .tagRemoved = self { true } else { false }
    }
}
