internal import CSystemd

/// Handles a signal of the process on the loop.
@LoopActor
public final class SignalSource {
    private var source: OpaquePointer?
    fileprivate let handler: @LoopActor () -> Void

    /// Blocks the signal for the calling thread and handles it on the loop.
    ///
    /// Call it on the loop before other threads start, so that they inherit the blocked signal.
    ///
    /// - Throws: ``SystemError`` if the signal cannot be handled.
    public init(_ signal: CInt, handler: @escaping @LoopActor () -> Void) throws(SystemError) {
        self.handler = handler
        let status = sd_event_add_signal(
            EventLoop.shared.event, &source, signal | Self.blockSignal, hasCome,
            Unmanaged.passUnretained(self).toOpaque())
        try SystemError.check(status, "take signal \(signal)")
    }

    /// `SD_EVENT_SIGNAL_PROCMASK`, a cast macro that Swift cannot import: sd-event blocks the signal itself.
    private static let blockSignal: CInt = 1 << 30

    isolated deinit {
        sd_event_source_disable_unref(source)
    }
}

/// Called by libsystemd on the loop's thread. `deinit` removes the source, so the object exists.
private func hasCome(
    _: OpaquePointer?, _: UnsafePointer<signalfd_siginfo>?, context: UnsafeMutableRawPointer?
) -> CInt {
    guard let context else { return 0 }
    LoopActor.assumeIsolated(Unmanaged<SignalSource>.fromOpaque(context).takeUnretainedValue()) { $0.handler() }
    return 0
}
