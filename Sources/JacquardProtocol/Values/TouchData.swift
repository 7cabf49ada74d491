/// One sample of the woven lines in continuous touch mode.
///
/// Source: `TouchData.diff_data_scaled`, 13 bytes: proximity, then twelve lines. 0 to 128 each.
public struct TouchData: Hashable, Sendable {
    /// Grows within one touch; a smaller number than before means that the finger was lifted in between.
    public let sequence: UInt32
    /// How near the hand is.
    public let proximity: UInt8
    /// Twelve values, one a line.
    public let lines: [UInt8]

    /// Takes the 13 bytes of the wire.
    ///
    /// - Returns: nil when there are not exactly 13; the SDK drops those too.
    public init?(sequence: UInt32, scaled: [UInt8]) {
        guard let proximity = scaled.first, scaled.count == 13 else { return nil }
        self.sequence = sequence
        self.proximity = proximity
        lines = Array(scaled.dropFirst())
    }
}
