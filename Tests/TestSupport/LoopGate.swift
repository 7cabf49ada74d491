import EventLoop

/// Lets only so many tests onto the loop at a time. Their servers and simulated devices do by the clock what they do, however
/// little of the machine there is: more of them than a small one can run would all miss their deadlines together.
@LoopActor
enum LoopGate {
    /// How many tests there is room for.
    static let width = 6
    private static var free = width
    private static var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Waits for places, behind everybody who waits already.
    static func enter(taking places: Int) async {
        guard waiting.isEmpty, places <= free else {
            return await withCheckedContinuation { waiting.append((places, $0)) }
        }
        free -= places
    }

    /// Gives places to the next.
    static func leave(giving places: Int) {
        free += places
        while let next = waiting.first, next.places <= free {
            free -= next.places
            waiting.removeFirst().continuation.resume()
        }
    }
}
