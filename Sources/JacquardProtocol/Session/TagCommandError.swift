/// Why a command has no answer. The names are those of the SDK where it has one.
public enum TagCommandError: Error, Hashable, Sendable {
    /// A parameter is out of its range, is what it is already, or is too long for a packet; nothing was sent.
    case invalidParameter
    /// No gear is attached, or it was detached before it could do so.
    case gearNotAttached
    /// The component lacks the LED; nothing was sent.
    case componentDoesNotSupportPlayLEDPattern
    /// The component lacks the motor; nothing was sent.
    case componentDoesNotSupportPlayHaptic
    /// The component does not recognise touches; nothing was sent.
    case componentDoesNotSupportTouchMode
    /// The tag is not connected; nothing was sent.
    case notConnected
    /// Sent, and no answer came in time: the effect is not known.
    case timeout
    /// Sent, and the link broke before an answer: the effect is not known.
    case linkLost
    /// The link refused to carry it: name and text of the Bluetooth stack.
    case writeFailed(name: String, text: String)
    /// The Bluetooth stack was too busy to send it, and nothing was sent: name and text of the stack.
    case busy(name: String, text: String)
    /// The tag refused.
    case status(Status)
    /// The answer lacks what it must hold.
    case malformedResponse
}
