import JacquardProtocol
import Time

/// The facts of a tag that a command may have changed, because its response was lost. They are set or read again until the tag
/// responds: that a later command is refused confirms nothing.
struct UnconfirmedFacts: Sendable {
    /// A fact.
    enum Fact: CaseIterable {
        /// The tag's LED.
        case light
        /// The tag's own name.
        case name
        /// The tag's loadable modules.
        case modules
    }

    /// The pattern to set the tag's LED to.
    struct Light: Hashable, Sendable {
        /// The state and the pattern; nil for off.
        var pattern: (state: LightState, pattern: LEDPattern)?
        /// When the pattern ends.
        var end: Instant
        /// When the LED is off whatever the tag has done.
        var until: Instant

        static func == (left: Light, right: Light) -> Bool {
            left.pattern?.state == right.pattern?.state && left.pattern?.pattern == right.pattern?.pattern
                && left.end == right.end && left.until == right.until
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(pattern?.pattern)
            hasher.combine(end)
        }

        /// The command that sets it at a time.
        func command(at now: Instant) -> TagCommand {
            guard var pattern = pattern?.pattern, now < end else { return .playLEDPattern(.haltAll, on: .tag) }
            pattern.durationMilliseconds = UInt32(clamping: max(1, (end - now).milliseconds))
            return .playLEDPattern(pattern, on: .tag)
        }
    }

    /// A command of the bridge's own that confirms a fact.
    enum Errand: Hashable, Sendable {
        /// Sets the LED; the command is the one that was sent.
        case light(Light, sentAt: Instant)
        case name
        case modules
    }

    /// nil if the state of the LED is known.
    private(set) var light: Light?
    private(set) var isNameUnknown = false
    /// Whether the tag was renamed and still advertises its old name: it advertises the new one after the end of the link.
    private(set) var isAdvertisedNameOld = false
    private var areModulesUnknown = false
    private var errands: [UInt64: Errand] = [:]
    private var due: Instant?
    private var pause = Self.firstPause

    /// The pause before a fact is set or read again; it doubles after each failure.
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    private var isEmpty: Bool { light == nil && !isNameUnknown && !areModulesUnknown }

    /// When to call ``takeDue(isConnected:isBusy:at:)``.
    var deadline: Instant? {
        var deadline = due
        deadline.lower(to: light?.until)
        return deadline
    }

    /// Handles a lost response to a command for the LED.
    ///
    /// - Parameters:
    ///   - pattern: what the LED was to play; nil for off.
    ///   - offAt: when the LED is off by what was known before; nil if it is.
    ///   - now: the current time.
    mutating func lightUnknown(
        _ pattern: (state: LightState, pattern: LEDPattern)?, offAt: Instant?, at now: Instant
    ) {
        let end = now + .milliseconds(pattern?.pattern.durationMilliseconds ?? 0)
        let until = [end, offAt ?? now, light?.until ?? now].reduce(now, max)
        // It is off whether the tag has switched it off or not.
        guard until > now else { return }
        var pattern = pattern
        pattern?.pattern.playType = .play
        light = Light(pattern: pattern, end: end, until: until)
        begin(at: now)
    }

    /// Handles a state of the LED that the tag has confirmed.
    mutating func lightConfirmed() { light = nil }

    /// Handles a lost response to a new name.
    mutating func nameUnknown(at now: Instant) {
        isNameUnknown = true
        begin(at: now)
    }

    /// Handles a name that the tag has confirmed.
    mutating func nameConfirmed() { (isNameUnknown, isAdvertisedNameOld) = (false, false) }

    /// Handles a name that the tag has sent, in place of the one that it advertises.
    mutating func nameRead() { isAdvertisedNameOld = true }

    /// Handles a lost response to a change of a module.
    mutating func modulesUnknown(at now: Instant) {
        areModulesUnknown = true
        begin(at: now)
    }

    /// Handles a list of modules.
    mutating func modulesConfirmed() { areModulesUnknown = false }

    private mutating func begin(at now: Instant) {
        pause = Self.firstPause
        due = now + pause
    }

    /// Handles a new connection.
    mutating func connected(at now: Instant) {
        errands = [:]
        isAdvertisedNameOld = false
        pause = Self.firstPause
        due = isEmpty ? nil : now
    }

    /// Returns what is to be set or read now.
    ///
    /// - Parameters:
    ///   - isConnected: whether the tag is connected; otherwise the next connection is waited for.
    ///   - isBusy: whether the tag executes commands.
    ///   - now: the current time.
    /// - Returns: the errands.
    mutating func takeDue(isConnected: Bool, isBusy: Bool, at now: Instant) -> [Errand] {
        if let until = light?.until, until <= now { light = nil }
        guard let due, due <= now else { return [] }
        let waits = isBusy || !errands.isEmpty
        self.due = !isEmpty && isConnected && waits ? now + Self.firstPause : nil
        guard isConnected, !waits else { return [] }
        return (light.map { [.light($0, sentAt: now)] } ?? []) + (isNameUnknown ? [.name] : [])
            + (areModulesUnknown ? [.modules] : [])
    }

    /// Handles an errand that is sent.
    mutating func sent(_ errand: Errand, _ token: UInt64) { errands[token] = errand }

    /// Handles the end of a command of the bridge's own.
    ///
    /// - Returns: the errand if it has succeeded.
    mutating func ended(_ token: UInt64, isSuccess: Bool, at now: Instant) -> Errand? {
        guard let errand = errands.removeValue(forKey: token) else { return nil }
        guard isSuccess else {
            pause = min(pause * 2, Self.longestPause)
            due = isEmpty ? nil : now + pause
            return nil
        }
        switch errand {
        case .light(let light, _): if self.light == light { self.light = nil }
        case .name: isNameUnknown = false
        case .modules: areModulesUnknown = false
        }
        return errand
    }

    /// Whether a command is an errand.
    func contains(_ token: UInt64) -> Bool { errands[token] != nil }
}

extension UnconfirmedFacts.Errand {
    /// The command to the tag.
    var command: TagCommand {
        switch self {
        case .light(let light, let sentAt): light.command(at: sentAt)
        case .name: .readName
        case .modules: .listModules
        }
    }
}

extension TagMirror {
    /// The facts that a lost response leaves unknown. Reading them takes no memory.
    var unconfirmed: UnconfirmedFacts {
        get { rareFacts.first?.unconfirmed ?? UnconfirmedFacts() }
        _modify {
            if rareFacts.isEmpty { rareFacts.append(RareFacts()) }
            yield &rareFacts[0].unconfirmed
        }
    }

    /// Handles a state of the LED that the tag has confirmed.
    mutating func lightConfirmed() {
        if !rareFacts.isEmpty { rareFacts[0].unconfirmed.lightConfirmed() }
    }

    /// Handles a name that the tag has confirmed.
    mutating func nameConfirmed() {
        if !rareFacts.isEmpty { rareFacts[0].unconfirmed.nameConfirmed() }
    }

    /// Handles a lost response to a command for the tag's LED.
    ///
    /// - Parameters:
    ///   - pattern: what the LED was to play; nil for off.
    ///   - now: the current time.
    mutating func lightUnknown(_ pattern: (state: LightState, pattern: LEDPattern)?, at now: Timestamp) {
        let offAt = lights.tag.offAt ?? (lights.tag.isOn ? now.instant + LEDState.longestBlinking : nil)
        unconfirmed.lightUnknown(pattern, offAt: offAt, at: now.instant)
    }

    /// Handles a start after a process that was killed: the LED may play what that has begun. It is switched off.
    mutating func ledMayPlay(at now: Timestamp) {
        guard !lights.tag.isOn else { return }
        let longest = Duration.milliseconds(LEDState.longestMilliseconds)
        unconfirmed.lightUnknown(nil, offAt: now.instant + longest, at: now.instant)
    }

    /// Returns what is to be set or read again now, because a lost response has left it unknown.
    ///
    /// - Parameters:
    ///   - isBusy: whether the tag executes commands.
    ///   - now: the current time.
    /// - Returns: the errands.
    mutating func unconfirmedDue(isBusy: Bool, at now: Timestamp) -> [UnconfirmedFacts.Errand] {
        guard let due = rareFacts.first?.unconfirmed.deadline, due <= now.instant else { return [] }
        if features.setsLight { unconfirmed.lightConfirmed() }
        return unconfirmed.takeDue(isConnected: isConnected, isBusy: isBusy, at: now.instant)
    }

    /// Handles the end of an errand, and publishes the facts that it has confirmed.
    mutating func unconfirmedEnded(
        _ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>, at now: Timestamp,
        _ effects: inout Effects
    ) {
        let response = try? result.get()
        switch (unconfirmed.ended(token, isSuccess: response != nil, at: now.instant), response) {
        case (.light(let light, let sentAt), _):
            lightChanged(&effects) { led in
                if let (state, _) = light.pattern, case .playLEDPattern(let pattern, _) = light.command(at: sentAt),
                    !pattern.haltsAll
                {
                    led.plays(pattern, state, at: now.instant)
                } else {
                    led.turnOff()
                }
            }
        case (.name, .name(let name?)):
            nameConfirmed()
            sighted(TagSighting(name: name), at: now, &effects)
            unconfirmed.nameRead()
        case (.modules, .modules(let modules)):
            _ = TagRequestOutcome(.modules(modules), aboutModulesOf: &self, at: now, &effects)
        default: break
        }
    }
}
