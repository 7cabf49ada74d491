import JSON

/// An action of discovery.
public enum DiscoveryAction: Hashable, Sendable {
    /// Publish these messages.
    case publish([DiscoveryMessage])
    /// Announce the bridge and all tags; `again`: even if the broker has the same messages already.
    case announceAll(again: Bool)
    /// Publish the touch mode and the presence of all tags again, even if the broker has them.
    ///
    /// Home Assistant does not evaluate a state again when only the template of its entity changes: after an update of the
    /// bridge the touch mode would be unknown, and the tracker without its zones.
    case repeatTouchModes
    /// Publish the bridge's announcement and all its facts again, even if the broker has them.
    case repeatBridge
    /// Publish a tag's announcement and all its facts again, even if the broker has them. The value is the tag's position; there
    /// can be fewer tags by now.
    case repeatTag(Int)
}

/// Decides when to announce, announce again and migrate.
///
/// After the first connection to the broker it listens for a second to announcements that an earlier run published in the other
/// form or under another prefix. If there are none, it announces everything once: announcements are retained. Otherwise it
/// migrates: it removes the components that the new form does not have, asks Home Assistant to expect the other form, announces
/// the new form, and then empties the old topics. In this order entities keep their ids and automations their triggers.
///
/// Times are durations since any fixed point: the module has no clock.
public struct DiscoveryLife: Sendable {
    private enum State {
        /// Not connected to the broker yet.
        case waiting
        case listening(until: Duration)
        /// Home Assistant removes components; these topics are to be migrated.
        case removing([String], until: Duration)
        /// Home Assistant was asked to migrate these topics.
        case migrating([String], until: Duration)
        /// The new form is announced; these topics are to be emptied.
        case emptying([String], at: Duration)
        case settled
    }

    /// The time to listen, and Home Assistant's time for each step of a migration.
    private static let pause = Duration.seconds(1)
    /// The time over which the response to a restart of Home Assistant is spread.
    private static let spread = Duration.seconds(2)

    private let topics: DiscoveryTopics
    private let statusTopic: String
    private var state = State.waiting
    /// The object ids of the bridge and then of the tags.
    private var devices: [String] = []
    private var leftovers: Leftovers
    /// Prefixes of earlier runs with several levels, which the other filters do not find.
    private var former: [DiscoveryTopics] = []
    /// Whether everything was announced in this run.
    public private(set) var hasAnnounced = false
    private var reminders: [(action: DiscoveryAction, at: Duration)] = []
    /// Whether Home Assistant has started again while reminders were due.
    private var isRestartPending = false

    init(_ topics: DiscoveryTopics, statusTopic: String) {
        self.topics = topics
        self.statusTopic = statusTopic
        leftovers = Leftovers(topics)
    }

    /// The filters to subscribe to. Announcements of earlier runs are included until everything is settled; after that only those of
    /// the bridge itself, which Home Assistant empties when a user deletes a device.
    public var filters: [String] {
        if case .settled = state { return [statusTopic] + devices.map(topics.filter) }
        return [statusTopic]
            + devices.flatMap { device in
                topics.leftoverFilters(device) + former.flatMap(\.inBothForms).map { $0.filter(device) }
            }
    }

    /// The filters to subscribe to for one device after the announcements.
    func filter(of objectID: String) -> String { topics.filter(objectID) }

    /// The time of the next ``takeDue(at:)``; nil if nothing is due.
    public var deadline: Duration? {
        guard let reminder = reminders.first?.at else { return stateDeadline }
        return stateDeadline.map { min($0, reminder) } ?? reminder
    }

    private var stateDeadline: Duration? {
        switch state {
        case .waiting, .settled: nil
        case .listening(let until): until
        case .removing(_, let until), .migrating(_, let until): until
        case .emptying(_, let at): at
        }
    }

    /// Sets the object ids of the devices: the bridge first, then the tags.
    mutating func setDevices(_ objectIDs: [String]) {
        devices = objectIDs
        leftovers.objectIDs = Set(objectIDs.map { Array($0.utf8) })
    }

    mutating func setFormerPrefixes(_ prefixes: [String]) {
        former = Set(prefixes).filter { $0.contains("/") && $0 != topics.prefix }.sorted()
            .map { DiscoveryTopics(prefix: $0, form: topics.form) }
    }

    /// Takes over a message that this run announced under other settings, to migrate it.
    mutating func inherit(_ message: DiscoveryMessage, _ successors: Successors) {
        guard let device = leftovers.parse(message.topic) else { return }
        leftovers.insert(message, device, successors)
    }

    /// The broker is connected and the subscriptions are made.
    public mutating func brokerConnected(at now: Duration) {
        guard case .waiting = state else { return }
        state = .listening(until: now + Self.pause)
    }

    /// Receives any message.
    ///
    /// - Returns: whether the message is part of discovery; if so, nothing else should handle it.
    mutating func received(
        _ topic: String, _ payload: [UInt8], isRetained: Bool, _ successors: Successors, at now: Duration
    ) -> Bool {
        if topic.utf8.elementsEqual(statusTopic.utf8) {
            if payload.elementsEqual("online".utf8) { homeAssistantStarted(at: now) }
            return true
        }
        guard Self.isAnnouncement(topic) else { return false }
        guard let device = leftovers.parse(topic) else {
            if isRetained, !hasAnnounced { leftovers.noteComponents(topic, payload) }
            return false
        }
        switch state {
        // The migration receives its own requests.
        case .removing, .migrating, .emptying: break
        case .waiting, .listening, .settled:
            guard isRetained, leftovers.accept(payload, device) else { break }
            leftovers.insert(DiscoveryMessage(topic: topic, payload: payload), device, successors)
            if case .settled = state { state = .listening(until: now + Self.pause) }
        }
        return true
    }

    /// The object id of the device of a topic of this run's announcements; nil for another topic.
    func presentDevice(of topic: String) -> String? {
        Self.isAnnouncement(topic) ? leftovers.presentDevice(of: topic) : nil
    }

    /// Whether a topic may be part of discovery.
    func concerns(_ topic: String) -> Bool {
        Self.isAnnouncement(topic) || topic.utf8.elementsEqual(statusTopic.utf8)
    }

    private static func isAnnouncement(_ topic: String) -> Bool {
        topic.utf8.reversed().starts(with: "/config".utf8.reversed())
    }

    /// The components of a device that an earlier run has announced in the present form.
    func formerComponents(_ objectID: String) -> Set<AnnouncedComponent> {
        leftovers.components[Array(objectID.utf8), default: []]
    }

    /// The topics with announcements of other settings that are still to be emptied, for some of the devices.
    func unfinishedTopics(of isMeant: (_ objectID: String) -> Bool) -> [String] {
        let migrating: [String] =
            switch state {
            case .removing(let topics, _), .migrating(let topics, _), .emptying(let topics, _): topics
            case .waiting, .listening, .settled: []
            }
        return (migrating + leftovers.all).filter { topic in
            leftovers.parse(topic).map { isMeant(String(decoding: $0.objectID, as: UTF8.self)) } ?? false
        }
    }

    /// Returns what is due.
    public mutating func takeDue(at now: Duration) -> [DiscoveryAction] {
        var actions: [DiscoveryAction] = []
        if let stateDeadline, stateDeadline <= now { actions += nextState(at: now) }
        let due = reminders.prefix { $0.at <= now }.count
        actions += reminders[..<due].map(\.action)
        reminders.removeFirst(due)
        if isRestartPending, reminders.isEmpty { remind(at: now + Self.spread / (devices.count + 1)) }
        return actions
    }
}

extension DiscoveryLife {
    private mutating func nextState(at now: Duration) -> [DiscoveryAction] {
        switch state {
        case .waiting, .settled: return []
        case .listening: return listened(at: now)
        case .removing(let topics, _):
            state = .migrating(topics, until: now + Self.pause)
            return [.publish(topics.map(DiscoveryMessage.migrationRequest))]
        case .migrating(let topics, _):
            state = .emptying(topics, at: now + Self.pause)
            return announce(at: now)
        case .emptying(let topics, _):
            state = .settled
            return [.publish(topics.map(DiscoveryMessage.empty))]
        }
    }

    private mutating func listened(at now: Duration) -> [DiscoveryAction] {
        let found = leftovers.removeAll()
        let messages = found.obsolete.map(DiscoveryMessage.empty) + found.removals
        let removal: [DiscoveryAction] = messages.isEmpty ? [] : [.publish(messages)]
        guard found.otherForm.isEmpty else {
            // Home Assistant needs a moment to remove components from a message that it is then asked to migrate.
            guard found.removals.isEmpty else {
                state = .removing(found.otherForm, until: now + Self.pause)
                return removal
            }
            state = .migrating(found.otherForm, until: now + Self.pause)
            return removal + [.publish(found.otherForm.map(DiscoveryMessage.migrationRequest))]
        }
        state = .settled
        return removal + (hasAnnounced ? [] : announce(at: now))
    }

    private mutating func announce(at now: Duration) -> [DiscoveryAction] {
        defer { hasAnnounced = true }
        if !hasAnnounced { reminders.append((.repeatTouchModes, now + Self.pause)) }
        return [.announceAll(again: hasAnnounced)]
    }

    /// Responds to a start of Home Assistant. If it starts again meanwhile, one more response follows this one.
    private mutating func homeAssistantStarted(at now: Duration) {
        guard hasAnnounced else { return }
        guard reminders.isEmpty else { return isRestartPending = true }
        remind(at: now)
    }

    /// Repeats everything at equal distances: first the bridge, and the last tag before two seconds have passed.
    private mutating func remind(at start: Duration) {
        isRestartPending = false
        let actions = [.repeatBridge] + devices.indices.dropLast().map(DiscoveryAction.repeatTag)
        let distance = Self.spread / actions.count
        for (index, action) in actions.enumerated() { reminders.append((action, start + distance * index)) }
    }
}

/// Returns the components of a device, by its object id, that may be announced in the present form.
typealias Successors = (String) -> Set<AnnouncedComponent>

/// Announcements of this program that the broker retains and that this run does not publish: they have the other form or
/// another prefix.
private struct Leftovers: Sendable {
    /// The most topics of a device: twice as many as it has entities. Others stay at the broker.
    private static let maxTopicsPerDevice = 128
    /// The most bytes of payloads that are read until everything is settled.
    private static let maxBytesRead = 8 << 20
    private static let maxTopicBytes = 256
    /// The most levels of a topic; mosquitto closes the connection of a client that publishes to one with more than 200.
    private static let maxTopicLevels = 64

    /// The devices of this run.
    var objectIDs: Set<[UInt8]> = []
    private let present: DiscoveryTopics
    /// The treatment of a topic.
    private enum Treatment {
        /// Home Assistant is asked to migrate it. The message, if any, is published before: it removes what is not announced in
        /// the present form.
        case migration(removal: DiscoveryMessage?)
        /// It is emptied: it has another prefix, or nothing takes its place in the present form. Home Assistant would keep its
        /// entity.
        case emptying
    }

    /// The topics as bytes.
    private var topics: [[UInt8]: Treatment] = [:]
    private var counts: [[UInt8]: Int] = [:]
    private var bytesRead = 0
    /// The components in announcements of the present form, by device.
    private(set) var components: [[UInt8]: Set<AnnouncedComponent>] = [:]

    init(_ present: DiscoveryTopics) {
        self.present = present
    }

    /// Parses a topic; nil if it cannot be one of them.
    func parse(_ topic: String) -> DeviceTopic? {
        guard topic.utf8.count <= Self.maxTopicBytes,
            topic.utf8.count(where: { $0 == UInt8(ascii: "/") }) < Self.maxTopicLevels,
            let device = DeviceTopic(topic, objectIDs: objectIDs),
            device.form != present.form || device.prefix != Array(present.prefix.utf8)
        else { return nil }
        return device
    }

    /// The object id of the device of a topic of the present form and prefix; nil for another topic.
    func presentDevice(of topic: String) -> String? {
        guard topic.utf8.count <= Self.maxTopicBytes, let device = DeviceTopic(topic, objectIDs: objectIDs),
            device.form == present.form, device.prefix == Array(present.prefix.utf8)
        else { return nil }
        return String(decoding: device.objectID, as: UTF8.self)
    }

    /// Whether this program published a payload, and there is room for its topic.
    mutating func accept(_ payload: [UInt8], _ device: DeviceTopic) -> Bool {
        guard counts[device.objectID, default: 0] < Self.maxTopicsPerDevice,
            bytesRead + payload.count <= Self.maxBytesRead
        else { return false }
        bytesRead += payload.count
        return DiscoveryMessage.isOwn(payload)
    }

    /// Reads the components of an announcement that has the present form.
    mutating func noteComponents(_ topic: String, _ payload: [UInt8]) {
        guard topic.utf8.count <= Self.maxTopicBytes, let device = DeviceTopic(topic, objectIDs: objectIDs),
            device.form == present.form, device.prefix == Array(present.prefix.utf8), accept(payload, device)
        else { return }
        switch present.form {
        case .device:
            let found = DiscoveryMessage(topic: topic, payload: payload).components
            components[device.objectID, default: []].formUnion(found.prefix(Self.maxTopicsPerDevice))
        case .single:
            guard let component = AnnouncedComponent(ofSingleForm: topic) else { return }
            counts[device.objectID, default: 0] += 1
            components[device.objectID, default: []].insert(component)
        }
    }

    /// Keeps a topic.
    mutating func insert(_ message: DiscoveryMessage, _ device: DeviceTopic, _ successors: Successors) {
        let treatment = treatment(of: message, device, successors)
        guard topics.updateValue(treatment, forKey: Array(message.topic.utf8)) == nil else { return }
        counts[device.objectID, default: 0] += 1
    }

    private func treatment(
        of message: DiscoveryMessage, _ device: DeviceTopic, _ successors: Successors
    ) -> Treatment {
        // Home Assistant listens to the present prefix.
        guard device.prefix == Array(present.prefix.utf8) else { return .emptying }
        let successors = successors(String(decoding: device.objectID, as: UTF8.self))
        switch device.form {
        case .device:
            let orphans = message.components.subtracting(successors).sorted { $0.key < $1.key }
            return .migration(removal: orphans.isEmpty ? nil : message.removing(orphans))
        case .single:
            let component = AnnouncedComponent(ofSingleForm: message.topic)
            return component.map(successors.contains) == false ? .emptying : .migration(removal: nil)
        }
    }

    /// The topics to migrate, the messages to publish before that, and the topics to empty, each sorted by topic.
    struct Findings {
        var otherForm: [String] = []
        var removals: [DiscoveryMessage] = []
        var obsolete: [String] = []
    }

    /// All topics, sorted.
    var all: [String] { topics.keys.map { String(decoding: $0, as: UTF8.self) }.sorted() }

    /// Takes all topics out.
    mutating func removeAll() -> Findings {
        defer { (topics, counts, bytesRead) = ([:], [:], 0) }
        var findings = Findings()
        for (topic, treatment) in topics.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let topic = String(decoding: topic, as: UTF8.self)
            switch treatment {
            case .emptying: findings.obsolete.append(topic)
            case .migration(let removal):
                findings.otherForm.append(topic)
                if let removal { findings.removals.append(removal) }
            }
        }
        return findings
    }
}
