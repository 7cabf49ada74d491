import EventLoop
import JacquardProtocol

@testable import Jacquard

/// Reads a stream value by value.
@LoopActor
final class Reader<Value: Sendable> {
    private let iterator: AsyncStream<Value>.Iterator

    init(_ stream: AsyncStream<Value>) {
        iterator = stream.makeAsyncIterator()
    }

    /// The next value; nil at the end.
    func next() async -> Value? {
        // A copy reads the same stream, and the actor is free meanwhile.
        var iterator = iterator
        return await iterator.next(isolation: LoopActor.shared)
    }

    /// The next values, which have to be so many.
    func next(_ count: Int) async -> [Value] {
        var values: [Value] = []
        while values.count < count, let value = await next() { values.append(value) }
        return values
    }

    /// All values up to the end.
    func rest() async -> [Value] {
        var values: [Value] = []
        while let value = await next() { values.append(value) }
        return values
    }
}

extension TagConnectionState {
    /// As a line of a transcript.
    var line: String {
        switch self {
        case .preparingToConnect: "preparing"
        case .connecting(let step, let total): "connecting \(step)/\(total)"
        case .initializing(let step, let total): "initializing \(step)/\(total)"
        case .configuring(let step, let total): "configuring \(step)/\(total)"
        case .connected: "connected"
        case .disconnected(let error): "disconnected" + (error.map { ": \($0.code)" } ?? "")
        }
    }
}
