/// The states of the Bluetooth stack and the broker connection.
struct StackFacts: Sendable {
    var bluezVersion: String?
    var protocolVersion: Int?
    /// The connected node of the broker, if it has several.
    var brokerNode: String?
    /// nil until it is first reported.
    private(set) var bluetooth: AdapterFacts.State?
    /// Sorted by id; nil until the first list.
    private(set) var adapters: [AdapterFacts]?

    /// Whether no tag can be reached because Bluetooth is unavailable.
    var isOutOfService: Bool { bluetooth.map { $0 != .poweredOn } ?? false }

    /// Whether the state of Bluetooth is known. It is not immediately after the start.
    var isBluetoothKnown: Bool { (bluetooth ?? .unknown) != .unknown }

    /// The state of Bluetooth while it is known and not powered on; nil otherwise.
    var unusableBluetooth: AdapterFacts.State? { isBluetoothKnown && isOutOfService ? bluetooth : nil }

    /// Throws if Bluetooth is unavailable.
    func checkBluetooth() throws(CommandFailure) {
        guard bluetooth == .poweredOn else { throw .bluetooth(is: bluetooth ?? .unknown) }
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
