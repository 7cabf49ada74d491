/// Calls back at the end of a turn of the loop, once however often that is asked for in it. Made once, like a timer.
@LoopActor
public final class EndOfTurnSource {
    private let handler: @LoopActor () -> Void
    private var isRequested = false

    /// Makes a source that is not requested.
    public init(handler: @escaping @LoopActor () -> Void) {
        self.handler = handler
    }

    /// Asks for the call at the end of the present turn, when everything that this turn brought has been handled; at the end of
    /// a turn, at that of the next one.
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
