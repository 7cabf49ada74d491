internal import CSystemd
internal import Glibc

/// Watches a descriptor and calls a handler on the loop while it is ready (level triggered).
///
/// The caller owns the descriptor and closes it after ``cancel()``.
@LoopActor
public final class DescriptorSource {
    /// The events of a descriptor.
    public struct Events: OptionSet, Sendable {
        /// Bits of `epoll_event.events`.
        public let rawValue: UInt32

        /// Creates a set from the bits of epoll.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Data can be read, or the peer has closed.
        public static let readable = Events(rawValue: EPOLLIN.rawValue)
        /// Data can be written.
        public static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// The peer has closed. Always reported.
        public static let hangUp = Events(rawValue: EPOLLHUP.rawValue)
        /// The descriptor has an error. Always reported.
        public static let error = Events(rawValue: EPOLLERR.rawValue)
    }

    private var source: OpaquePointer?
    fileprivate let handler: @LoopActor (Events) -> Void

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - descriptor: an open descriptor that epoll supports: a socket, pipe or terminal, not a regular file.
    ///   - events: the events to wait for.
    ///   - handler: called with the events that have occurred.
    /// - Throws: ``SystemError`` if epoll does not support the descriptor.
    public init(
        _ descriptor: CInt, for events: Events, handler: @escaping @LoopActor (Events) -> Void
    ) throws(SystemError) {
        self.handler = handler
        let status = sd_event_add_io(
            EventLoop.shared.event, &source, descriptor, events.rawValue, isReady,
            Unmanaged.passUnretained(self).toOpaque())
        try SystemError.check(status, "watch a descriptor")
    }

    /// The events to wait for. An empty set still reports errors.
    public var events: Events {
        get {
            var bits: UInt32 = 0
            if let source { sd_event_source_get_io_events(source, &bits) }
            return Events(rawValue: bits)
        }
        set {
            // Setting the same events again would cost a system call.
            guard let source, newValue != events else { return }
            sd_event_source_set_io_events(source, newValue.rawValue)
        }
    }

    /// Stops watching. The handler is not called again.
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
    // `deinit` removes the source, so the object exists. It is retained during the call, in which its last owner may
    // release it.
    let owner = Unmanaged<DescriptorSource>.fromOpaque(context).takeUnretainedValue()
    LoopActor.assumeIsolated((owner, DescriptorSource.Events(rawValue: ready))) { $0.handler($1) }
    return 0
}

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

/// Waits for SIGTERM or SIGINT, which end a service.
@LoopActor
public final class TerminationSignals {
    private var sources: [SignalSource] = []
    private var waiting: CheckedContinuation<Void, Never>?
    private var isDue = false

    /// Creates an object that receives no signals yet.
    public init() {}

    /// Handles both signals from now on.
    ///
    /// - Throws: ``SystemError`` if a signal cannot be handled; it then ends the process.
    public func listen() throws(SystemError) {
        for signal in [SIGTERM, SIGINT] {
            sources.append(try SignalSource(signal) { [unowned self] in end() })
        }
    }

    /// Returns when a signal arrives, or at once if one has arrived. At most one task may wait.
    public func wait() async {
        guard !isDue else { return }
        await withCheckedContinuation { waiting = $0 }
    }

    private func end() {
        isDue = true
        waiting?.resume()
        waiting = nil
    }
}

/// The error of a system call.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The positive `errno`.
    public let number: CInt
    /// The operation that failed, such as "watch a descriptor".
    public let action: String

    /// Creates an error.
    public init(number: CInt, action: String) {
        self.number = number
        self.action = action
    }

    /// Returns the error of the last call, from `errno`.
    public static func last(_ action: String) -> SystemError {
        SystemError(number: errno, action: action)
    }

    /// The action and the C library's text for the number.
    public var description: String {
        "cannot \(action): \(strerror(number).map { String(cString: $0) } ?? "error \(number)")"
    }

    /// Throws the error for a negative result of libsystemd.
    static func check(_ status: CInt, _ action: String) throws(SystemError) {
        if status < 0 { throw SystemError(number: -status, action: action) }
    }
}
