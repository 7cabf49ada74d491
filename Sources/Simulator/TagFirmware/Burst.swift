public import JacquardProtocol
public import Time

/// Several gestures or touches in a row.
public struct Burst: Hashable, Sendable {
    /// The content of a burst.
    public enum Content: Hashable, Sendable {
        /// The same gesture again and again.
        case gesture(Gesture)
        /// All known gestures in turn.
        case cycle
        /// The same touch again and again: proximity and twelve lines.
        case touch([UInt8])
        /// A finger that moves over the lines.
        case stroke
        /// A finger that slides from one place to another.
        case slide(Stroke)
    }

    /// Its content.
    public let content: Content
    /// How many.
    public let count: Int
    /// How many a second; nil for as fast as the client takes them.
    public let rate: Double?

    /// Describes a burst.
    public init(_ content: Content, count: Int = 1, rate: Double? = nil) {
        self.content = content
        self.count = count
        self.rate = rate
    }

    /// Makes one of them.
    ///
    /// - Parameters:
    ///   - index: counted from 0.
    ///   - firmware: of the tag.
    ///   - now: the time.
    /// - Returns: what is to be done.
    /// - Throws: ``FirmwareError`` when it is impossible now.
    public func make(
        _ index: Int, with firmware: inout Firmware, at now: Instant
    ) throws(FirmwareError) -> [FirmwareAction] {
        switch content {
        case .gesture(let gesture): try firmware.gesture(gesture, at: now)
        case .cycle: try firmware.gesture(Gesture.known[index % Gesture.known.count], at: now)
        case .touch(let values): try firmware.touch(values, at: now)
        case .stroke: try firmware.touch(Self.stroke(index), at: now)
        case .slide(let stroke): try firmware.touch(stroke.sample(index), at: now)
        }
    }

    /// A finger at one of the twelve lines, and weaker at its neighbours.
    private static func stroke(_ index: Int) -> [UInt8] {
        let position = index % 12
        return [100] + (0..<12).map { line in UInt8(max(0, 120 - 50 * abs(line - position))) }
    }
}
