internal import CSystemd

/// Watches a descriptor and calls back on the loop while it is ready (level triggered).
///
/// The descriptor stays the caller's, who closes it after ``cancel()``.
@LoopActor
public final class DescriptorSource {
    /// What to wait for, and what has come.
    public struct Events: OptionSet, Sendable {
        /// Bits of `epoll_event.events`.
        public let rawValue: UInt32

        /// Takes the bits of epoll.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// There is something to read, or the other side has closed.
        public static let readable = Events(rawValue: EPOLLIN.rawValue)
        /// There is room to write.
        public static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// The other side has gone. Always reported.
        public static let hangUp = Events(rawValue: EPOLLHUP.rawValue)
        /// The descriptor is in error. Always reported.
        public static let error = Events(rawValue: EPOLLERR.rawValue)
    }

    private var source: OpaquePointer?
    fileprivate let handler: @LoopActor (Events) -> Void

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - descriptor: an open descriptor that epoll takes (socket, pipe, terminal; no regular file).
    ///   - events: what to wait for.
    ///   - handler: called with what has come.
    /// - Throws: ``SystemError`` when epoll does not take the descriptor.
    public init(
        _ descriptor: CInt, for events: Events, handler: @escaping @LoopActor (Events) -> Void
    ) throws(SystemError) {
        self.handler = handler
        let status = sd_event_add_io(
            EventLoop.shared.event, &source, descriptor, events.rawValue, isReady,
            Unmanaged.passUnretained(self).toOpaque())
        try SystemError.check(status, "watch a descriptor")
    }

    /// What is waited for; nothing keeps the source quiet, but for errors.
    public var events: Events {
        get {
            var bits: UInt32 = 0
            if let source { sd_event_source_get_io_events(source, &bits) }
            return Events(rawValue: bits)
        }
        set {
            // Setting what is set already would cost a system call.
            guard let source, newValue != events else { return }
            sd_event_source_set_io_events(source, newValue.rawValue)
        }
    }

    /// Ends the watch; nothing is called any more.
    public func cancel() {
        source = sd_event_source_disable_unref(source)
    }

    isolated deinit {
        sd_event_source_disable_unref(source)
    }
}

/// Called by libsystemd on the loop's thread.
private func isReady(
    _: OpaquePointer?, _: CInt, ready: UInt32, context: UnsafeMutableRawPointer?
) -> CInt {
    guard let context else { return 0 }
    // The object cancels its source before it goes, so it is there. It is held for the length of the call, in which its last
    // owner may let go of it.
    let owner = Unmanaged<DescriptorSource>.fromOpaque(context).takeUnretainedValue()
    LoopActor.assumeIsolated((owner, DescriptorSource.Events(rawValue: ready))) { $0.handler($1) }
    return 0
}
