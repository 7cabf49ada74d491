import EventLoop

/// The kernel's side of connecting: any number of devices may be waited for, one link at a time is made.
@LoopActor
final class LinkScheduler {
    private let setupTime: Duration
    private var waiting: [Device1] = []
    private var current: Device1?
    private lazy var timer = LoopTimer { [unowned self] in finish() }

    init(setupTime: Duration) {
        self.setupTime = setupTime
    }

    /// Whether a connection is pending, so that the adapter has to scan.
    var isListening: Bool { !waiting.isEmpty }

    func request(_ device: Device1) {
        waiting.append(device)
        device.adapter.listen()
    }

    func cancel(_ device: Device1) {
        waiting.removeAll { $0 === device }
        guard current === device else { return }
        current = nil
        timer.disarm()
    }

    /// Looks which of the devices that are waited for advertise, in the order in which they were asked for.
    func listen() {
        guard current == nil, let index = waiting.firstIndex(where: \.isAdvertising) else { return }
        current = waiting.remove(at: index)
        timer.arm(after: setupTime)
    }

    private func finish() {
        guard let device = current else { return }
        current = nil
        if device.isAdvertising { device.linkIsUp() } else { request(device) }
        listen()
    }
}

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
