/// The actor of everything that touches a C library, a descriptor or the state behind them: one thread, no lock.
@globalActor
public actor LoopActor {
    /// The only one.
    public static let shared = LoopActor()

    /// ``EventLoop/shared`` runs it.
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        EventLoop.shared.asUnownedSerialExecutor()
    }

    /// Runs code that is known to be called on the loop's thread, such as a C callback; stops the process elsewhere.
    public static func assumeIsolated<Result>(_ body: @LoopActor () throws -> Result) rethrows -> Result {
        typealias Unisolated = () throws -> Result
        EventLoop.shared.checkIsolated()
        return try withoutActuallyEscaping(body) { body in
            // The isolation has just been checked; only the type still tells of it. `MainActor` does the same.
            try unsafeBitCast(body, to: Unisolated.self)()
        }
    }
}
