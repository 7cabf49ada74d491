import JacquardProtocol

/// `T/touch`: one sample of the touch lines.
struct TouchDocument: Encodable {
    let seq: UInt32
    let proximity: UInt8
    let lines: [UInt8]
    let time: String

    init(_ touch: TouchData, at now: Moment) {
        seq = touch.sequence
        proximity = touch.proximity
        lines = touch.lines
        time = now.text
    }
}
