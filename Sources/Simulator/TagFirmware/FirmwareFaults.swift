public import JacquardProtocol

/// The faults of a simulated tag.
public struct FirmwareFaults: Hashable, Sendable {
    /// The fate of the answers to requests. The request itself is carried out, but for ``hang``.
    public enum AnswerFault: Hashable, Sendable {
        /// No answer is sent.
        case drop
        /// It comes late.
        case delay(Duration)
        /// It comes twice.
        case double
        /// It carries the id of another request.
        case wrongID
        /// The request is refused with this number and not carried out.
        case status(UInt32)
        /// Its bytes are no message.
        case malformed
        /// It ends in the middle.
        case truncated
        /// It lacks the body that belongs to it.
        case noBody
        /// Its last fragment is lost on the air.
        case lostFragment
        /// The request is not even looked at.
        case hang
    }

    /// The present fault; nil for a healthy tag.
    public var answer: AnswerFault?
    /// Whether the fault is over with the next request.
    public var isOnce = false
    /// Whether a write that wants an answer is refused with ATT error 3, as by firmware before 1.43.
    public var refusesWriteWithResponse = false
    /// Operations of the tag that are never answered.
    public var unansweredOpcodes: Set<Opcode> = []
    /// Whether no element of the store is accepted.
    public var refusesStore = false
    /// Whether the tag notifies something that no client knows, once it is configured.
    public var notifiesUnknown = false

    /// Whether notifications about modules and motion data are lost.
    public var losesNotifications = false
    /// The fault of its motion data; nil for none.
    public var motion: MotionFault?

    /// A healthy tag.
    public init() {}

    /// Takes the fault for the request at hand.
    mutating func take() -> AnswerFault? {
        defer { if isOnce { answer = nil } }
        return answer
    }
}
