import JacquardProtocol

/// Facts of a tag with several radios, with presence, or whose modules, raw data or motion sensor were used. Most tags have none.
struct RareFacts: Sendable {
    /// The tag's loadable modules; nil until they were listed.
    var modules: [ModuleDescriptor]?
    /// The views of raw data that are published.
    var rawViews: RawViews = []
    /// The state of the motion sensor, at most one; see ``TagMirror/motion``.
    var motions: [MotionState] = []

    /// The radios that receive the tag; nil if the bridge has one radio.
    var radios: TagRadios?
    /// Whether the tag is near; nil while that is not configured.
    var presence: Presence?

    /// The touch mode `slide`, at most one.
    var slides: [SlideState] = []

    /// The touch mode `slide`; nil until it was used.
    var slide: SlideState? { slides.first }
    /// The motion sensor; nil until it was used.
    var motion: MotionState? { motions.first }
}

extension TagMirror {
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
        radiosFact + presenceFacts + findFacts + modulesFact + motionPublications
    }

    /// Whether the gear or the motion sensor sends for a command that has ended: the end of the link would end it.
    var isInUse: Bool {
        guard let rare = rareFacts.first else { return false }
        return rare.slide?.isOn ?? false || rare.motion.map { $0.stream != nil || $0.download != nil } ?? false
    }

    /// The retained topics of the tag that may have a message.
    var retainedTopics: [String] { topics.retained + featureTopics + leftTopics }

    /// The retained topics of features that a reload can switch on and off, and that are on.
    var featureTopics: [String] { (presenceFacts + findFacts).map(\.topic) }
}
