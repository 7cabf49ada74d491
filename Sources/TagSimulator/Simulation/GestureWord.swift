import JacquardProtocol

/// The words for gestures, which are those of the bridge.
enum GestureWord {
    /// The gesture of a word or a number; nil for neither.
    static func gesture(_ text: String) -> Gesture? {
        words.first { $0.word == text }?.gesture ?? UInt32(text).map(Gesture.init)
    }

    /// The known gestures in turn.
    static func turn(_ index: Int) -> Gesture { words[index % words.count].gesture }

    /// The words, for people.
    static var allowed: String { words.map(\.word).joined(separator: ", ") }

    private static let words: [(word: String, gesture: Gesture)] = [
        ("double_tap", .doubleTap), ("brush_in", .brushIn), ("brush_out", .brushOut), ("cover", .shortCover),
        ("brush_up", .brushUp), ("brush_down", .brushDown),
    ]
}
