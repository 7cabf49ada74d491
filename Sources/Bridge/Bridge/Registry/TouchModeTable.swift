import JSON
import JacquardProtocol

/// All touch modes.
public enum TouchModeTable {
    /// The rows, those of features last.
    public static let rows =
        [
            TouchModeRow(TouchMode.gesture.word, .gesture, "reports gestures", title: "Gestures"),
            TouchModeRow(
                TouchMode.continuous.word, .continuous, "streams touches; gestures pause",
                title: "Touch data (gestures pause)",
                details: [
                    "In the mode continuous the gear reports its touch lines on the topic touch,",
                    "which empties the battery faster.",
                ]),
        ] + FeatureTable.touchModes

    /// `T/touch_mode`.
    static let topic = TopicRow("touch_mode", .fact, isRecorded: true) { document in
        document.word.map { word in
            rows.first { $0.word == word }?.clause ?? "touch mode is \(word)"
        }
    }
}
