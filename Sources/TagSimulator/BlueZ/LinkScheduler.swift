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
        guard current == nil, let index = waiting.firstIndex(where: { $0.peripheral.broadcast != nil }) else { return }
        current = waiting.remove(at: index)
        timer.arm(after: setupTime)
    }

    private func finish() {
        guard let device = current else { return }
        current = nil
        if device.peripheral.broadcast == nil {
            request(device)
        } else {
            device.linkIsUp()
        }
        listen()
    }
}
