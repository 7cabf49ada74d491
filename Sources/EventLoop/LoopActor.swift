/// The global actor of the event loop. All C libraries, descriptors and their state are isolated to it, without locks.
@globalActor
public actor LoopActor {
    /// The shared instance.
    public static let shared = LoopActor()

    /// The executor: ``EventLoop/shared``.
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        EventLoop.shared.asUnownedSerialExecutor()
    }

    /// Runs code in a synchronous callback on the loop's thread, such as that of a C library. Stops the process on
    /// any other
    /// thread.
    ///
    /// Write the callback in a nonisolated function. A closure in a method of the actor is isolated to it, and the
    /// runtime
    /// checks this at each call, which takes thirty times as long.
    ///
    /// - Parameters:
    ///   - argument: passed to `body`, because a closure with captures would be allocated for each call. It is
    ///     transferred to
    ///     the actor: the caller must not use it afterwards.
    ///   - body: the code.
    /// - Returns: the result of `body`.
    public static func assumeIsolated<Argument, Result: Sendable>(
        _ argument: Argument, _ body: @escaping @LoopActor (Argument) -> Result
    ) -> Result {
        typealias Unisolated = (Argument) -> Result
        EventLoop.shared.checkIsolated()
        // The isolation was just checked, and only the type still requires it. `MainActor` does the same.
        return unsafeBitCast(body, to: Unisolated.self)(argument)
    }
}
