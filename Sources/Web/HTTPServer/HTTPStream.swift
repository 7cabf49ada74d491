public import EventLoop

/// A response without an end: bytes that are sent to a peer as they come, such as server-sent events.
///
/// A peer that reads too slowly is disconnected when the backlog exceeds ``HTTPLimits/streamBacklog``.
@LoopActor
public final class HTTPStream {
    /// Called once when the peer has disconnected, reads too slowly, or ``end()`` was called.
    public var onEnd: (@LoopActor () -> Void)?
    /// Whether the stream has ended.
    public private(set) var hasEnded = false

    /// Produces the beginning of the stream in parts, each when the peer has read the one before; nil after the last one. Bytes
    /// passed to ``send(_:)`` meanwhile follow it.
    private var beginning: (@LoopActor () -> [UInt8]?)?
    private let limit: Int
    private var current: ArraySlice<UInt8> = []
    private var queue: [[UInt8]] = []
    private var next = 0
    /// The number of queued bytes.
    private(set) var backlog = 0
    /// Called when bytes are available, or the stream has ended, after ``read(into:)`` returned `.later`.
    var onReady: (@LoopActor () -> Void)?

    /// Creates a stream.
    ///
    /// - Parameters:
    ///   - limit: the most bytes that may wait.
    ///   - beginning: produces the first parts on demand.
    public init(limit: Int = HTTPLimits().streamBacklog, beginning: (@LoopActor () -> [UInt8]?)? = nil) {
        self.limit = limit
        self.beginning = beginning
    }

    /// Queues bytes. Does nothing after the end.
    public func send(_ bytes: [UInt8]) {
        guard !hasEnded, !bytes.isEmpty else { return }
        backlog += bytes.count
        guard backlog <= limit else { return end() }
        queue.append(bytes)
        onReady?()
    }

    /// Disconnects the peer. Queued bytes are discarded.
    public func end() {
        guard !hasEnded else { return }
        hasEnded = true
        queue = []
        current = []
        backlog = 0
        beginning = nil
        onReady?()
        onReady = nil
        let handler = onEnd
        onEnd = nil
        handler?()
    }

    /// The result of ``read(into:)``.
    enum Reading: Hashable {
        case bytes(Int)
        case later
        case ended
    }

    /// Copies the next bytes.
    func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Reading {
        guard !hasEnded else { return .ended }
        while current.isEmpty {
            guard advance() else { return .later }
        }
        let part = current.prefix(buffer.count)
        _ = buffer.update(fromContentsOf: part)
        current = current.dropFirst(part.count)
        return .bytes(part.count)
    }

    /// Makes the next part the current one.
    private func advance() -> Bool {
        if let beginning {
            if let part = beginning() {
                current = part[...]
                return true
            }
            self.beginning = nil
        }
        guard next < queue.count else { return false }
        current = queue[next][...]
        backlog -= current.count
        next += 1
        if next == queue.count {
            queue.removeAll(keepingCapacity: true)
            next = 0
        } else if next >= 256 {
            queue.removeFirst(next)
            next = 0
        }
        return true
    }
}
