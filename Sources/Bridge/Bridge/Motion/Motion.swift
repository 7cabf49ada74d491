import HomeAssistant
import JSON
import JacquardProtocol
import Time

/// The motion sensor of a tag: recordings, streams and downloads.
struct Motion: TagFeature {
    static let topics = [MotionDocument.topic, MotionSessionDocument.topic, MotionDataDocument.topic]
    static let commands: [any TagRequest.Type] = [MotionGet.self, MotionSessionsGet.self, MotionSet.self]
    static let key = "motion"
    static let storedKey: String? = key

    /// At most one; none until it was used.
    private var states: [MotionState]
    private var options: MotionOptions

    init(stored: JSONValue?, _ options: BridgeOptions, isAnnounced: Bool) {
        states = stored?.flag == true ? [MotionState(isPresent: true)] : []
        self.options = options.features.motion
    }

    /// The state, also before the first use. Reading it takes no memory.
    var state: MotionState {
        get { states.first ?? MotionState() }
        _modify {
            if states.isEmpty { states.append(MotionState()) }
            yield &states[0]
        }
    }

    /// The tag is known to have a motion sensor.
    var isUsed: Bool { states.first?.isPresent ?? false }
    var stored: JSONValue? { isUsed ? true : nil }
    var deadline: Instant? { states.first?.deadline }
    /// The end of the link would end a stream, and interrupt a download.
    var isActive: Bool { states.first.map { $0.stream != nil || $0.download != nil } ?? false }
    var usesRawData: Bool { states.first?.usesRawData ?? false }

    func facts(_ topics: TagTopics) -> [Publication] {
        guard let state = states.first else { return [] }
        let fact = Publication.fact(topics[MotionDocument.topic], MotionDocument(motion: state))
        guard let sessions = state.sessions else { return [fact] }
        return [fact, .fact(topics[MotionSessionDocument.topic], sessions.map { MotionSessionDocument(stored: $0) })]
    }

    mutating func handle(_ event: FeatureEvent, of tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects) {
        if case .configured(_, let new, _) = event { options = new.features.motion }
        if case .modules(let modules, let hasActivated) = event {
            listed(modules, hasActivated: hasActivated, at: now.instant)
            return effects.publish(facts(tag.topics))
        }
        guard !states.isEmpty else { return }
        let conditions = MotionState.Conditions(isConnected: tag.isConnected, idle: options.idle, now: now)
        var decided: [MotionState.Effect] = []
        switch event {
        case .motion(let report): states[0].reported(report, in: conditions, &decided)
        case .notified(let notification):
            guard let error = notification.error else { return }
            states[0].failed(error, in: conditions, &decided)
        case .linkChanged: states[0].connectionChanged(in: conditions, &decided)
        case .commandEnded(let token, let result, let error):
            guard let errand = states[0].errands.removeValue(forKey: token) else { return }
            states[0].ended(errand, result, error, in: conditions, &decided)
        case .file(let file, let event):
            guard let session = states[0].download?.session, session.isStored(in: file) else { return }
            states[0].fileReported(event, of: session, in: conditions, &decided)
        case .deadline:
            guard let deadline, deadline <= now.instant else { return }
            states[0].deadlineReached(in: conditions, &decided)
        case .stopping:
            // A stream ends with its link; a recording goes on.
            guard states[0].stream != nil else { return }
            states[0].streamLost()
            decided = [.publishState]
        default: return
        }
        perform(decided, of: &tag, in: conditions, &effects)
    }

    /// Handles a list of the tag's modules.
    private mutating func listed(_ modules: [ModuleDescriptor], hasActivated: Bool, at now: Instant) {
        let isActive = modules.first { $0.isSameModule(as: .motion) }.map { $0.isEnabled == true }
        guard isActive == true else {
            if !states.isEmpty { states[0].ended(as: isActive == nil ? .missing : .inactive) }
            return
        }
        if hasActivated || isUsed { state.foundActive() }
        if hasActivated { state.used(idle: options.idle, at: now) }
    }

    private mutating func perform(
        _ decided: [MotionState.Effect], of tag: inout TagMirror, in conditions: MotionState.Conditions,
        _ effects: inout Effects
    ) {
        for effect in decided {
            switch effect {
            case .publishState: publish(of: &tag, &effects)
            case .publishSamples(let payload):
                effects.publish(.stream(tag.topics[MotionDataDocument.topic], payload: payload))
            case .send(let errand): states[0].errands[tag.request(errand.command, &effects)] = errand
            case .file(let action, let session):
                if let file = file(of: session) {
                    effects.add(.file(action, file, of: tag.entry.id))
                } else {
                    var further: [MotionState.Effect] = []
                    states[0].fileReported(
                        .failed("imu.folder is no longer set"), of: session, in: conditions, &further)
                    perform(further, of: &tag, in: conditions, &effects)
                }
            }
        }
    }

    /// Publishes the state, and the list of modules, which says whether that of motion is active.
    fileprivate func publish(of tag: inout TagMirror, _ effects: inout Effects) {
        if let module = states.first?.module, module != .missing {
            tag.moduleChanged(.motion, isEnabled: module == .active)
        }
        effects.publish(tag.modulesFact + facts(tag.topics))
    }
}

extension TagMirror {
    /// The state of the motion sensor.
    var motion: MotionState {
        get { features[Motion.self]?.state ?? MotionState() }
        set { update(Motion.self) { $0.state = newValue } }
    }

    /// Publishes the state of the motion sensor.
    mutating func publishMotion(_ effects: inout Effects) {
        features[Motion.self]?.publish(of: &self, &effects)
    }
}

extension TagRequestContext {
    /// The state of the motion sensor.
    var motion: MotionState { features[Motion.self]?.state ?? MotionState() }
}

extension Motion {
    /// The file of a session; nil without a folder.
    func file(of session: StoredMotionSession) -> FeatureFile? {
        options.folder.map { folder in
            FeatureFile(
                noun: "session", folder: folder, limit: FeatureFile.Limit(mebibytes: options.most, key: Self.mostKey),
                name: session.fileName, byteCount: Int(session.byteCount), crc: session.crc,
                description: .object(session.members))
        }
    }
}

extension StoredMotionSession {
    /// The names of sessions are untrusted: no part of them is in a path.
    fileprivate var fileName: String {
        "\(String(crc, radix: 16))-\(byteCount)-\(String(CRC16.of(id.session.utf8), radix: 16))"
    }

    fileprivate var members: [String: JSONValue] {
        [
            "session": .string(id.session), "group": .string(id.group), "campaign": .string(id.campaign),
            "product": .string(id.product), "subject": .string(id.subject), "bytes": .integer(Int64(byteCount)),
            "crc": .string(String(crc, radix: 16)),
        ]
    }

    /// Whether a file is the one of this session, also if the folder is another one by now.
    fileprivate func isStored(in file: FeatureFile) -> Bool {
        file.name == fileName && file.description == .object(members)
    }
}
