/// The states of the Bluetooth stack and the broker connection.
struct StackFacts: Sendable {
    var bluezVersion: String?
    var protocolVersion: Int?
    /// The connected node of the broker, if it has several.
    var brokerNode: String?
    /// nil until it is first reported.
    private(set) var bluetooth: AdapterFacts.State?
    /// Why Bluetooth cannot be used, or not fully; nil if it can, or if there are several radios, which have faults of their own.
    private(set) var fault: Cause?
    /// Sorted by id; nil until the first list.
    private(set) var adapters: [AdapterFacts]?

    /// Whether no tag can be reached because Bluetooth is unavailable.
    var isOutOfService: Bool { bluetooth.map { $0 != .poweredOn } ?? false }

    /// Whether the state of Bluetooth is known. It is not immediately after the start.
    var isBluetoothKnown: Bool { (bluetooth ?? .unknown) != .unknown }

    /// Why commands wait while the state of Bluetooth is known and not powered on; nil otherwise.
    var obstacle: CommandObstacle? {
        guard isBluetoothKnown, isOutOfService, let bluetooth else { return nil }
        return .bluetooth(bluetooth, fault)
    }

    /// The failure of a request that needs Bluetooth.
    var bluetoothFailure: CommandFailure { .bluetooth(is: bluetooth ?? .unknown, because: fault) }

    /// Throws if Bluetooth is unavailable.
    func checkBluetooth() throws(CommandFailure) {
        guard bluetooth == .poweredOn else { throw bluetoothFailure }
    }

    /// Converts the error of a failed action.
    func failure(of error: RequestError) -> CommandFailure {
        guard case .bluetoothUnavailable(let state) = error else { return CommandFailure(error) }
        return .bluetooth(is: state, because: fault)
    }

    /// Handles another cause, or the end of a fault.
    mutating func faultChanged(to cause: Cause?) {
        fault = cause
    }

    /// Handles a changed state of Bluetooth.
    mutating func bluetoothChanged(to state: AdapterFacts.State) {
        bluetooth = state
    }

    /// Handles a changed list of adapters.
    ///
    /// - Returns: the adapters that became unavailable or were removed, with their state, and those that returned. The
    ///   first list has neither.
    mutating func adaptersChanged(to list: [AdapterFacts]) -> (lost: [(id: String, state: String)], back: [String]) {
        let old = adapters
        adapters = list.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        guard let old else { return ([], []) }
        let wereReady = Set(old.filter { $0.state == .poweredOn }.map(\.name))
        let areReady = Set(list.filter { $0.state == .poweredOn }.map(\.name))
        let lost = wereReady.subtracting(areReady).sorted().map { name in
            (name, list.first { $0.name == name }?.state.text ?? "gone")
        }
        return (lost, areReady.subtracting(wereReady).sorted())
    }
}

extension StackFacts {
    /// The problems of Bluetooth: the cause why it cannot be used, or not fully, and each adapter or radio that is not ready.
    /// Before the first list of adapters, only a known cause is a problem.
    var problems: [Problem] {
        let cause = fault.map { [Problem($0)] } ?? []
        // Report the cause only, not its consequences.
        guard let adapters, fault?.code != .notPermitted else { return cause }
        let unready = adapters.filter { $0.state != .poweredOn || $0.error != nil }.map { adapter in
            if let radio = adapter.radio { return Problem(of: radio, adapter) }
            return Problem(
                .adapterNotReady, about: adapter.id, "Bluetooth adapter \(adapter.id) is \(adapter.state.text)")
        }
        guard cause.isEmpty, !adapters.contains(where: { $0.state == .poweredOn }) else { return cause + unready }
        return unready + [Problem(.noAdapter, "No Bluetooth adapter is ready: no tag can be reached")]
    }
}
