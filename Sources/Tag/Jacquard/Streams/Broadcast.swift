import EventLoop

/// Sends values to any number of readers, each with its own stream.
///
/// Each stream has a bounded buffer. A slow reader loses the oldest values.
@LoopActor
final class Broadcast<Value: Sendable> {
    /// The last value, for new readers; nil before the first value, and without replay.
    private(set) var latest: Value?
    private let capacity: Int
    private let isReplaying: Bool
    private var readers: [Int: AsyncStream<Value>.Continuation] = [:]
    private var lastReader = 0
    private var isFinished = false

    /// Creates a broadcast without readers.
    ///
    /// - Parameters:
    ///   - capacity: the size of each reader's buffer.
    ///   - isReplaying: whether a new reader first gets the latest value.
    ///   - first: the initial value. If it is set, the latest value is replayed.
    init(keeping capacity: Int, isReplaying: Bool = false, first: Value? = nil) {
        self.capacity = capacity
        self.isReplaying = isReplaying || first != nil
        latest = first
    }

    /// The number of readers.
    var readerCount: Int { readers.count }

    /// Sends a value to all readers.
    func send(_ value: Value) {
        if isReplaying { latest = value }
        for reader in readers.values { reader.yield(value) }
    }

    /// Finishes all streams after their buffered values. A later reader still gets the latest value.
    func finish() {
        isFinished = true
        let ending = readers
        readers = [:]
        for reader in ending.values { reader.finish() }
    }

    /// Creates a stream for one reader.
    ///
    /// - Parameter kept: values to send first.
    /// - Returns: the stream. It finishes with the broadcast.
    func stream(after kept: [Value] = []) -> AsyncStream<Value> {
        let (stream, reader) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(capacity))
        for value in kept { reader.yield(value) }
        if let latest { reader.yield(latest) }
        guard !isFinished else {
            reader.finish()
            return stream
        }
        lastReader += 1
        let number = lastReader
        readers[number] = reader
        // Called on any thread.
        reader.onTermination = { [weak self] _ in
            EventLoop.shared.begin { self?.readers[number] = nil }
        }
        return stream
    }
}
