import EventLoop

/// Limits how many tests run on the loop at a time. Their servers and simulated devices work by the clock, however little of the
/// machine there is: more of them than a small machine can run would all miss their deadlines together.
@LoopActor
enum LoopGate {
    /// How many places there are; a test takes one, a test that runs alone takes all.
    static let width = 6
    /// Whether the running task belongs to a test that has its places. A second request by the same test would wait for ever
    /// behind a test that wants to be alone, which itself waits for the first place of this one.
    private nonisolated static let isInside = TaskLocal(wrappedValue: false)
    private static var free = width
    private static var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Whether a test waits for places.
    static var isOccupied: Bool { !waiting.isEmpty }

    /// Runs a body when there are places for it; at once inside a body that runs already.
    ///
    /// - Throws: ``Overdue`` for a test that has a place and wants to be alone, and what the body throws.
    static func pass<Result>(taking places: Int, _ body: @LoopActor () async throws -> Result) async throws -> Result {
        guard !isInside.get() else {
            guard places == 1 else { throw Overdue(description: "a test that has a place cannot be alone") }
            return try await body()
        }
        await enter(taking: places)
        defer { leave(giving: places) }
        return try await isInside.withValue(true) { try await body() }
    }

    /// Waits for places, behind all tests that wait already.
    private static func enter(taking places: Int) async {
        guard waiting.isEmpty, places <= free else {
            return await withCheckedContinuation { waiting.append((places, $0)) }
        }
        free -= places
    }

    /// Gives places to the next.
    private static func leave(giving places: Int) {
        free += places
        while let next = waiting.first, next.places <= free {
            free -= next.places
            waiting.removeFirst().continuation.resume()
        }
    }
}
