internal import CSystemd

/// Takes a signal of the process on the loop.
@LoopActor
public final class SignalSource {
    private var source: OpaquePointer?
    fileprivate let handler: @LoopActor () -> Void

    /// Blocks the signal for the calling thread and takes it from then on.
    ///
    /// Call it on the loop before other threads start, so that they inherit the blocked signal.
    ///
    /// - Throws: ``SystemError`` when the signal cannot be taken.
    public init(_ signal: CInt, handler: @escaping @LoopActor () -> Void) throws(SystemError) {
        self.handler = handler
        let status = sd_event_add_signal(
            EventLoop.shared.event, &source, signal | Self.blockSignal, hasCome,
            Unmanaged.passUnretained(self).toOpaque())
        try SystemError.check(status, "take signal \(signal)")
    }

    /// `SD_EVENT_SIGNAL_PROCMASK`, which is a cast macro: sd-event blocks the signal itself.
    private static let blockSignal: CInt = 1 << 30

    isolated deinit {
        sd_event_source_disable_unref(source)
    }
}

/// Called by libsystemd on the loop's thread. The object cancels its source before it goes, so it is there.
private func hasCome(
    _: OpaquePointer?, _: UnsafePointer<signalfd_siginfo>?, context: UnsafeMutableRawPointer?
) -> CInt {
    guard let context else { return 0 }
    LoopActor.assumeIsolated(Unmanaged<SignalSource>.fromOpaque(context).takeUnretainedValue()) { $0.handler() }
    return 0
}
