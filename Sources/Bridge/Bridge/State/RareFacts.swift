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
