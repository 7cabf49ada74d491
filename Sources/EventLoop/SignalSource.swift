internal import CSystemd

/// Takes a signal of the process on the loop.
@LoopActor
public final class SignalSource {
    private var source: OpaquePointer?
    private let handler: () -> Void

    /// Blocks the signal for the calling thread and takes it from then on.
    ///
    /// Call it on the loop before other threads start, so that they inherit the blocked signal.
    ///
    /// - Throws: ``SystemError`` when the signal cannot be taken.
    public init(_ signal: CInt, handler: @escaping () -> Void) throws(SystemError) {
        self.handler = handler
        let status = sd_event_add_signal(
            EventLoop.shared.event, &source, signal | Self.blockSignal,
            { _, _, context in
                guard let context else { return 0 }
                let owner = Unmanaged<SignalSource>.fromOpaque(context).takeUnretainedValue()
                LoopActor.assumeIsolated { owner.handler() }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        try SystemError.check(status, "take signal \(signal)")
    }

    /// `SD_EVENT_SIGNAL_PROCMASK`, which is a cast macro: sd-event blocks the signal itself.
    private static let blockSignal: CInt = 1 << 30

    isolated deinit {
        sd_event_source_disable_unref(source)
    }
}
