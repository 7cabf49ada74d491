import EventLoop

/// Hands values to any number of readers, each with a stream of its own.
///
/// A reader that lags behind loses the oldest of what waits for it; the newest always arrives.
@LoopActor
final class Broadcast<Value: Sendable> {
    /// What was sent last, for readers to come; nil before the first value, and where nothing is replayed.
    private(set) var latest: Value?
    private let capacity: Int
    private let isReplaying: Bool
    private var readers: [Int: AsyncStream<Value>.Continuation] = [:]
    private var lastReader = 0
    private var isFinished = false

    /// Nobody reads yet.
    ///
    /// - Parameters:
    ///   - capacity: how many values wait for each reader.
    ///   - isReplaying: whether a new reader gets the latest value at once.
    ///   - first: the latest value from the beginning; it is replayed.
    init(keeping capacity: Int, isReplaying: Bool = false, first: Value? = nil) {
        self.capacity = capacity
        self.isReplaying = isReplaying || first != nil
        latest = first
    }

    /// How many read.
    var readerCount: Int { readers.count }

    /// Sends a value to everyone.
    func send(_ value: Value) {
        if isReplaying { latest = value }
        for reader in readers.values { reader.yield(value) }
    }

    /// Ends all streams behind what waits in them; a later reader still gets the latest value.
    func finish() {
        isFinished = true
        let ending = readers
        readers = [:]
        for reader in ending.values { reader.finish() }
    }

    /// A stream for one reader.
    ///
    /// - Parameter kept: what it gets before everything else.
    /// - Returns: the stream, which ends when this does.
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
        // Called on whatever thread the reader has gone away.
        reader.onTermination = { [weak self] _ in
            EventLoop.shared.begin { self?.readers[number] = nil }
        }
        return stream
    }
}
