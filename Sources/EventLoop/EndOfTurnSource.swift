/// Calls a handler at the end of a turn of the loop, once per turn however often it was requested.
///
/// Create it once and request it as often as needed, like a timer.
@LoopActor
public final class EndOfTurnSource {
    private let handler: @LoopActor () -> Void
    private var isRequested = false
    /// The source that was requested after this one in the same turn.
    var next: EndOfTurnSource?

    /// Creates a source without a request.
    public init(handler: @escaping @LoopActor () -> Void) {
        self.handler = handler
    }

    /// Requests a call at the end of the current turn, after all its events were handled. A request from a handler
    /// at the end
    /// of a turn applies to the next turn.
    public func request() {
        guard !isRequested else { return }
        isRequested = true
        EventLoop.shared.add(self)
    }

    /// Calls the handlers of this source and of all that were requested after it in the same turn.
    func fireAll() {
        var source: EndOfTurnSource? = self
        while let current = source {
            source = current.next
            // Before the handler, which may request the source again for the next turn.
            current.next = nil
            current.isRequested = false
            current.handler()
        }
    }
}
