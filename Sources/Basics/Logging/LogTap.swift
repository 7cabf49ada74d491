internal import Synchronization
public import Text

/// Adds the time to records and passes them on to another sink, and also to a listener while there is one, which may have a lower
/// threshold.
///
/// Without a listener it costs nothing: the threshold is one number that is read without a lock.
public final class LogTap: LogSink {
    private struct Listener {
        let threshold: LogLevel
        let wake: @Sendable () -> Void
        var records: [LogRecord] = []
        var omitted = 0
    }

    /// Upper bound on the records that wait for the listener. Further ones are counted.
    static let most = 64

    private let sink: any LogSink
    private let now: @Sendable () -> LogTime
    /// The rank of the lower threshold.
    private let lowest: Atomic<Int>
    private let listener = Mutex<Listener?>(nil)

    /// Creates a tap without a listener.
    ///
    /// - Parameters:
    ///   - sink: receives the records that reach its threshold.
    ///   - now: the clocks.
    public init(_ sink: any LogSink, now: @escaping @Sendable () -> LogTime) {
        self.sink = sink
        self.now = now
        lowest = Atomic(sink.level.rank)
    }

    /// The lower one of two thresholds: that of the other sink, which setting changes, and that of the listener.
    public var level: LogLevel {
        get { LogLevel.allCases[lowest.load(ordering: .relaxed)] }
        set {
            sink.level = newValue
            updateLevel()
        }
    }

    /// Whether records of level `trace` are written or listened to. On the path of every gesture: cheaper than ``level``.
    public var isTracing: Bool { lowest.load(ordering: .relaxed) == LogLevel.trace.rank }

    /// Starts, changes or ends the listening. Records that still wait are discarded.
    ///
    /// - Parameters:
    ///   - level: the listener's threshold; nil: no listener.
    ///   - wake: called on any thread when ``takeRecords()`` has records again.
    public func listen(at level: LogLevel?, wake: @escaping @Sendable () -> Void = {}) {
        listener.withLock { $0 = level.map { Listener(threshold: $0, wake: wake) } }
        updateLevel()
    }

    /// Removes and returns the waiting records in order, and the number of those that were omitted after them.
    public func takeRecords() -> (records: [LogRecord], omitted: Int) {
        listener.withLock { listener in
            let taken = (listener?.records ?? [], listener?.omitted ?? 0)
            listener?.records = []
            listener?.omitted = 0
            return taken
        }
    }

    /// Writes the record with its time to the other sink, and keeps it for the listener.
    public func write(_ record: LogRecord) {
        let record = record.written(at: now())
        if record.level >= sink.level { sink.write(record) }
        let wake = listener.withLock { listener -> (@Sendable () -> Void)? in
            guard let current = listener, record.level >= current.threshold else { return nil }
            guard current.records.count < Self.most else {
                listener?.omitted += 1
                return nil
            }
            listener?.records.append(record)
            return current.records.isEmpty ? current.wake : nil
        }
        wake?()
    }

    private func updateLevel() {
        let own = sink.level
        lowest.store(min(own, listener.withLock { $0?.threshold ?? own }).rank, ordering: .relaxed)
    }
}
