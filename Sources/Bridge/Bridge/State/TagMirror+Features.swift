import JacquardProtocol
import Time

// The features of a tag that most tags don't use. Each is a machine of its own: its state is in `RareFacts`, and the lists
// behind it say which features have a fact, a timeout or a setting.

/// Facts of a tag with several radios, with presence, or that features have used. Most tags have none.
struct RareFacts: Sendable {
    /// The tag's loadable modules; nil until they were listed.
    var modules: [ModuleDescriptor]?
    /// The token of the latest command of ``TagMirror/request(_:_:)``.
    var lastRequest = Self.firstRequest

    /// The radios that receive the tag; nil if the bridge has one radio.
    var radios: TagRadios?
    /// Whether the tag is near; nil while that is not configured.
    var presence: Presence?

    /// The facts that a lost response leaves unknown.
    var unconfirmed = UnconfirmedFacts()

    /// More than each token of ``PendingCommands``, which counts from 1.
    static let firstRequest: UInt64 = 1 << 62

    /// Returns when the next timeout of a feature is due. Changes nothing, see ``TagMirror/nextDeadline()``.
    mutating func nextDeadline() -> Instant? {
        var deadline = radios?.due
        deadline.lower(to: presence?.deadline)
        deadline.lower(to: unconfirmed.deadline)
        return deadline
    }
}

extension TagMirror {
    /// Sets up the features that are configured or were used before.
    mutating func setUpFeatures(_ record: TagRecord?, _ context: Context, at now: Timestamp) {
        if context.hasRadios { radios = TagRadios() }
        presence = context.options.presence.limit.map { Presence(awayAfter: $0, stored: record?.presence, at: now) }
        if presence == nil, record?.presence != nil { memory.left.insert(.presence) }
        if radios == nil, record?.hasRadios == true { memory.left.insert(.radios) }
    }

    /// The rare facts of the tag. Reading them takes no memory; changing them does, once.
    var rare: RareFacts {
        get { rareFacts.first ?? RareFacts() }
        _modify {
            if rareFacts.isEmpty { rareFacts.append(RareFacts()) }
            yield &rareFacts[0]
        }
    }

    /// The facts of features that are used.
    var featureFacts: [Publication] {
        radiosFact + presenceFacts + modulesFact + features.facts(topics)
    }

    /// The retained topics of the tag that may have a message.
    var retainedTopics: [String] { TagTopicTable.retained(topics) + featureTopics + leftTopics }

    /// The retained topics of features that a reload can switch on and off, and that are on.
    var featureTopics: [String] { presenceFacts.map(\.topic) + features.usedTopics(topics) }

    /// The retained topics of features that were switched off.
    var leftTopics: [String] {
        (memory.left.contains(.presence) ? [topics[PresenceDocument.topic]] : [])
            + (memory.left.contains(.radios) ? [topics[RadioDocument.topic]] : [])
    }

    /// Handles the end of ``leftTopics``.
    mutating func leftTopicsCleared() { memory.left = [] }

    /// Publishes the facts of features that have changed because time has passed.
    mutating func featuresDue(at now: Timestamp, _ effects: inout Effects) {
        if presence?.deadlineReached(at: now) == true { effects.publish(presenceFacts) }
    }
}

// MARK: Radios

extension TagMirror {
    /// The radios that receive the tag; nil if the bridge has one radio.
    var radios: TagRadios? {
        get { rareFacts.first?.radios }
        set { if newValue != nil || !rareFacts.isEmpty { rare.radios = newValue } }
    }

    /// Handles receptions.
    mutating func received(_ receptions: [RadioReception], at now: Timestamp, _ effects: inout Effects) {
        if radios?.received(receptions, at: now) == true { effects.publish(radiosFact) }
    }

    /// `T/radios`; none with a single radio.
    var radiosFact: [Publication] {
        radios.map { [.fact(topics[RadioDocument.topic], $0.rows.map { RadioDocument(row: $0) })] } ?? []
    }
}

// MARK: Presence

extension TagMirror {
    /// Whether the tag is near; nil while that is not configured.
    var presence: Presence? {
        get { rareFacts.first?.presence }
        set {
            guard newValue != nil || !rareFacts.isEmpty else { return }
            rare.presence = newValue
            memory.isSet = true
        }
    }

    /// `T/presence`; nothing while presence is off.
    var presenceFacts: [Publication] {
        presence.map { [.fact(topics[PresenceDocument.topic], PresenceDocument(presence: $0, radio: sighting.radio))] }
            ?? []
    }

    /// Passes an event to the presence.
    ///
    /// - Returns: whether it has changed.
    mutating func presenceChanged(_ event: Presence.Event, at now: Timestamp) -> Bool {
        presence?.handle(event, at: now) == true
    }

    /// Handles a changed state of the connection.
    ///
    /// - Parameters:
    ///   - new: the new state. The error of a tag that falls asleep is removed, because it is no failure.
    ///   - lastSeen: when the tag was received before.
    ///   - now: the current time.
    /// - Returns: whether the presence has changed.
    mutating func presenceChanged(by new: inout TagConnection, lastSeen: Timestamp?, at now: Timestamp) -> Bool {
        guard presence != nil else { return false }
        if new.state.isLinked { return presenceChanged(.linkUp, at: now) }
        guard link.connection.state.isLinked else {
            if presence?.state == .asleep { new.removeFailureOfSleepingTag(after: link.connection) }
            return false
        }
        if new.error?.code == .bluetoothPowerOff { return presenceChanged(.adapterOff, at: now) }
        let end = new.error == nil ? .local : new.error?.linkEnd
        let idle = lastSeen.map { now.instant - $0.instant }
        let isChanged = presenceChanged(.linkEnded(end, idle: idle, rssi: sighting.rssi), at: now)
        if presence?.state == .asleep { new.error = nil }
        return isChanged
    }

    /// Handles a changed setting: nil switches presence off.
    mutating func setPresence(awayAfter: Duration?, at now: Timestamp, _ effects: inout Effects) {
        guard let awayAfter else {
            if presence != nil { memory.left.insert(.presence) }
            presence = nil
            return
        }
        memory.left.remove(.presence)
        guard presence == nil else {
            presence?.awayAfter = awayAfter
            return
        }
        var new = Presence(awayAfter: awayAfter, at: now)
        if link.connection.state.isLinked { _ = new.handle(.linkUp, at: now) }
        presence = new
        effects.publish(presenceFacts)
    }
}

extension Presence {
    /// Goes on with a stored state; nil or a word that is no state: with none.
    init(awayAfter: Duration, stored: TagRecord.Presence?, at now: Timestamp) {
        let state = stored.flatMap { State(rawValue: $0.state) }
        let since = Timestamp(instant: now.instant, unixMilliseconds: stored?.unixMilliseconds ?? 0)
        self.init(awayAfter: awayAfter, earlier: state.map { ($0, since) }, at: now)
    }

    /// The part that is kept across restarts.
    var stored: TagRecord.Presence {
        TagRecord.Presence(state: state.rawValue, unixMilliseconds: since.unixMilliseconds)
    }
}

// MARK: The light

extension TagMirror {
    /// Changes an LED, and publishes the light unless nothing has changed that is published.
    mutating func lightChanged(
        of target: TagCommand.Target = .tag, _ effects: inout Effects, _ change: (inout LEDState) -> Void
    ) {
        let (light, isOn) = (lights.tag.shown, lights.tag.isOn)
        change(&lights[target])
        if lights.tag.isOn != isOn || lights.tag.shown != light { effects.publish(ledFact) }
    }
}
