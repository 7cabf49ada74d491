import JSON
import JacquardProtocol
import Time

/// Publishes the raw data of a tag, in the views that `raw/set` has selected.
struct Raw: TagFeature {
    static let topic = TopicRow("raw", .stream, isOnPage: false) { document in
        document["bytes"]?.word.map { "raw data (\(document["view"]?.word ?? "value")): \($0)" }
    }
    static let topics = [topic]
    static let commands: [any TagRequest.Type] = [RawSet.self]
    static var keys: [FeatureKey] {
        [
            FeatureKey(
                "raw", .flag(\.features.allowsRawData),
                """
                true: administrators may read and write the raw data of tags by "raw/set", to find out what a tag does.
                """, .omitted("for research with the command line"))
        ]
    }

    private var views: RawViews = []

    init(stored: JSONValue?, _ options: BridgeOptions, isAnnounced: Bool) {}

    mutating func handle(_ event: FeatureEvent, of tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects) {
        switch event {
        case .ordered(let views as RawViews, _): observe(views, of: tag, &effects)
        // The session may be a new one.
        case .linkChanged where tag.isConnected && !views.isEmpty: observe(views, of: tag, &effects)
        case .raw(let bytes, let view) where views.contains(view):
            effects.publish(.stream(tag.topics[Self.topic], RawDocument(bytes: bytes, view: view)))
        case .configured(_, let new, _) where !new.features.allowsRawData && !views.isEmpty:
            observe([], of: tag, &effects)
        default: break
        }
    }

    private mutating func observe(_ views: RawViews, of tag: TagMirror, _ effects: inout Effects) {
        self.views = views
        effects.add(.observeRawData(views, of: tag.handle))
    }
}
