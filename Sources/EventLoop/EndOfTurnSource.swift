/// Calls a handler at the end of a turn of the loop, once per turn however often it was requested.
///
/// Create it once and request it as often as needed, like a timer.
@LoopActor
public final class EndOfTurnSource {
    private let handler: @LoopActor () -> Void
    private var isRequested = false

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

    func fire() {
        isRequested = false
        handler()
    }
}
