import JacquardProtocol

/// A touch mode: one of the gear, or what a feature makes of one.
///
/// The command, `T/touch_mode`, the choice in Home Assistant, the sentences of `monitor` and the command line follow from the rows.
public struct TouchModeRow: Sendable {
    /// The word of `T/touch_mode`.
    public let word: String
    /// Sentences for the manual.
    public let details: [String]
    /// A clause about a tag in this mode, such as `reports gestures`.
    let clause: String
    /// Its title in Home Assistant.
    let title: String
    /// The mode of the gear.
    let mode: TouchMode
    /// Returns why the configuration does not allow it; nil if it does.
    let refusal: @Sendable (BridgeOptions) -> CommandFailure?
    /// Returns the data of the result of the command.
    let data: @Sendable (BridgeOptions) -> CommandData

    init(
        _ word: String, _ mode: TouchMode, _ clause: String, title: String, details: [String] = [],
        refusal: @escaping @Sendable (BridgeOptions) -> CommandFailure? = { _ in nil },
        data: @escaping @Sendable (BridgeOptions) -> CommandData = { _ in .none }
    ) {
        (self.word, self.mode, self.clause, self.title, self.details) = (word, mode, clause, title, details)
        (self.refusal, self.data) = (refusal, data)
    }
}
