/// The actor of everything that touches a C library, a descriptor or the state behind them: one thread, no lock.
@globalActor
public actor LoopActor {
    /// The only one.
    public static let shared = LoopActor()

    /// ``EventLoop/shared`` runs it.
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        EventLoop.shared.asUnownedSerialExecutor()
    }

    /// Runs code that is known to be called on the loop's thread, such as a callback of a C library; stops the process
    /// elsewhere.
    ///
    /// The callback itself belongs to no actor. One that is written down in a method of the actor would belong to it, and be
    /// checked by the runtime at each call, which costs thirty times as much.
    ///
    /// - Parameters:
    ///   - argument: what the code needs. A closure that captures it instead is allocated for each call. It is the actor's from
    ///     here on: the caller does not keep it.
    ///   - body: the code.
    /// - Returns: what the code gives.
    public static func assumeIsolated<Argument, Result: Sendable>(
        _ argument: Argument, _ body: @escaping @LoopActor (Argument) -> Result
    ) -> Result {
        typealias Unisolated = (Argument) -> Result
        EventLoop.shared.checkIsolated()
        // The isolation has just been checked; only the type still tells of it. `MainActor` does the same.
        return unsafeBitCast(body, to: Unisolated.self)(argument)
    }
}
