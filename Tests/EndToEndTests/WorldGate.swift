import EventLoop

/// Lets only so many worlds exist at a time: more of them than a small machine can run would miss their deadlines.
@LoopActor
enum WorldGate {
    private static var free = 6
    private static var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits for a place.
    static func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Gives the place to the next.
    static func leave() {
        guard !waiting.isEmpty else {
            free += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
