import EventLoop

/// The ATT requests of one link: one at a time, each taking a round trip.
///
/// While the device cannot be reached they wait, for its return or for the end of the link.
@LoopActor
final class ATTBearer {
    private let roundTrip: Duration
    private let isReachable: () -> Bool
    private var requests: [(Bool) -> Void] = []
    private lazy var timer = LoopTimer { [unowned self] in finishFirst() }

    init(roundTrip: Duration, isReachable: @escaping () -> Bool) {
        self.roundTrip = roundTrip
        self.isReachable = isReachable
    }

    /// Queues a request.
    ///
    /// - Parameter completion: called with whether the device has answered; not if the link ended before.
    func request(_ completion: @escaping (Bool) -> Void) {
        requests.append(completion)
        if requests.count == 1 { timer.arm(after: roundTrip) }
    }

    /// Ends all requests: the link has gone.
    func close() {
        timer.disarm()
        let ended = requests
        requests = []
        for completion in ended { completion(false) }
    }

    private func finishFirst() {
        guard isReachable() else { return timer.arm(after: max(roundTrip, .milliseconds(50))) }
        guard !requests.isEmpty else { return }
        let completion = requests.removeFirst()
        if !requests.isEmpty { timer.arm(after: roundTrip) }
        completion(true)
    }
}
