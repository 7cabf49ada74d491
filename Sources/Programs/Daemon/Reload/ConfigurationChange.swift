import Configuration
import JacquardProtocol
import Text

/// One difference between two configurations, as the action that applies it.
enum ConfigurationChange: Hashable, Sendable {
    /// The tag with this id was removed, or another tag has the id now.
    case tagRemoved(id: TagID)
    /// A key of `home_assistant`, `defaults`, `limits` or `telemetry`.
    case settings
    /// The names or capabilities of gear.
    case gear
    /// The name or connection policy of a known tag.
    case tagChanged(TagSettings)
    /// A tag that the bridge does not know yet.
    case tagAdded(TagSettings)
    /// The file of the metrics; nil: they are no longer written.
    case metricsFile(String?)
    /// How often the metrics are written, to the same file.
    case metricsInterval
    /// The lowest level that is logged.
    case logLevel(LogLevel)
    /// Something of `mqtt`: how the broker is reached.
    case broker
    /// The value of this key, which counts from the next start on.
    case nextStart(key: String)
}

extension Settings {
    /// The changes that turn this configuration of a running bridge into another one.
    ///
    /// - Parameters:
    ///   - new: the other configuration.
    ///   - paired: the tags that were paired by command, which are known without being listed.
    ///   - known: the ids of the tags that the bridge has now: a listed tag that was forgotten by command is added again.
    /// - Returns: the changes in the order in which they are applied: tags are removed before announcements change,
    ///   and added afterwards.
    func changes(
        to new: Settings, paired: [TagSettings], known: Set<TagID>
    ) -> [ConfigurationChange] {
        let next = new.keepingStartValues(of: self)
        let effects = Set(next.changedKeys(from: self).map(\.effect))
        let tags = TagChanges(
            from: allTags(paired).filter { known.contains($0.id) }, to: next.allTags(paired))
        let parts: [[ConfigurationChange]] = [
            tags.removed.map { .tagRemoved(id: $0) },
            effects.contains(.settings) ? [.settings] : [],
            effects.contains(.gear) ? [.gear] : [],
            tags.changed.map { .tagChanged($0) },
            tags.added.map { .tagAdded($0) },
            effects.contains(.logLevel) ? [.logLevel(next.log.level)] : [],
            metricsChanges(to: next.metrics),
            effects.contains(.reconnection) ? [.broker] : [],
            new.changedKeys(from: self).filter { $0.effect == .nextStart }.map { .nextStart(key: $0.path) },
        ]
        return Array(parts.joined())
    }

    /// Without a file, the interval has no effect.
    private func metricsChanges(to next: Metrics) -> [ConfigurationChange] {
        if next.file.map({ ExactText($0) }) != metrics.file.map({ ExactText($0) }) { return [.metricsFile(next.file)] }
        return next.file == nil || next.interval == metrics.interval ? [] : [.metricsInterval]
    }

    /// The listed tags, then those that were paired by command and are not listed.
    private func allTags(_ paired: [TagSettings]) -> [TagSettings] {
        tags + paired.filter { tag in !tags.contains { $0.serial == tag.serial || $0.id == tag.id } }
    }
}

/// The differences of two lists of tags, each in the order of its list.
private struct TagChanges {
    let removed: [TagID]
    let changed: [TagSettings]
    let added: [TagSettings]

    init(from old: [TagSettings], to new: [TagSettings]) {
        let before = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
        let staying = new.filter { tag in before[tag.id].map { tag.isSameTag(as: $0) } ?? false }
        let stayingIDs = Set(staying.map(\.id))
        removed = old.map(\.id).filter { !stayingIDs.contains($0) }
        changed = staying.filter { before[$0.id] != $0 }
        added = new.filter { !stayingIDs.contains($0.id) }
    }
}

extension TagSettings {
    /// Whether both are the same piece of hardware, as far as can be said of it.
    fileprivate func isSameTag(as other: TagSettings) -> Bool {
        serial == other.serial && address == other.address
    }
}
