public import Bluetooth
public import EventLoop
public import JacquardProtocol
public import Logging
public import Tags

/// Discovers tags, connects them and keeps them connected. Source: JacquardSDKiOS, `JacquardManager`.
///
/// The interface of Google's SDK above a `TagManager`: streams instead of events, and addresses instead of handles.
@LoopActor
public final class JacquardManager {
    /// The tags below. A program can use it directly, too: to pair and to forget, or for events without streams.
    public let tags: TagManager

    let centralStates: Broadcast<CentralState>
    let scanStates = Broadcast<Bool>(keeping: 16, first: false)
    let advertisements = Broadcast<AdvertisedTag>(keeping: 1024)
    /// The tags that were added for the callers of this interface.
    private var handles: [BluetoothAddress: TagHandle] = [:]
    private var lastHandle = TagHandle.none
    /// Convert the events of tags that this interface is used for.
    private(set) var followers: [TagHandle: ConnectionFollower] = [:]
    private var responses = PendingResponses()

    /// Creates a manager and starts to watch for tags.
    ///
    /// - Parameters:
    ///   - central: the Bluetooth stack. The manager sets its `onEvent`.
    ///   - timing: timeouts of a connection.
    ///   - catalogue: the names and capabilities of gear.
    ///   - log: the logger.
    public convenience init(
        central: any Central, timing: TagSession.Timing = TagSession.Timing(), catalogue: GearCatalogue = .builtIn,
        log: Logger
    ) {
        self.init(TagManager(central: central, timing: timing, catalogue: catalogue, log: log))
    }

    /// Creates a manager above another one. A handler of its events that was set before goes on to receive them.
    public init(_ tags: TagManager) {
        self.tags = tags
        centralStates = Broadcast(keeping: 16, first: tags.state)
        tags.onEvent = { [weak self, receiver = tags.onEvent] event in
            if case .tag(_, .commandEnded(let token, let result)) = event, self?.responses.end(token, result) == true {
                return
            }
            receiver?(event)
            self?.receive(event)
        }
    }

    private func receive(_ event: TagManager.Event) {
        switch event {
        case .tag(let tag, let event): receive(event, of: tag)
        case .advertised(let tag, let isNew, of: _):
            if let handle = handle(at: tag.identifier) { followers[handle]?.tag?.update(from: tag) }
            if isNew, tags.isScanWanted { advertisements.send(tag) }
        case .centralState(let state): centralStates.send(state)
        case .scanning(let isScanning): scanStates.send(isScanning)
        case .fault, .adapters, .duplicateSerial, .pairing, .paired, .forgotten: break
        }
    }

    private func receive(_ event: TagEvent, of tag: TagHandle) {
        guard let follower = followers[tag] else { return }
        follower.receive(event)
        guard follower.isEnded else { return }
        followers[tag] = nil
        guard let address = handles.first(where: { $0.value == tag })?.key else { return }
        handles[address] = nil
        tags.remove(tag)
    }
}

extension JacquardManager {
    /// The names and capabilities of gear. Attached gear is reported again if another catalogue describes it differently.
    public var catalogue: GearCatalogue {
        get { tags.catalogue }
        set { tags.catalogue = newValue }
    }

    /// Scans for tags until ``stopScanning()``; they are reported in ``advertisingTags``. The scan resumes after Bluetooth was
    /// off. Source: JacquardSDKiOS, `startScanning(options:)`.
    ///
    /// - Parameter allowsDuplicates: whether each advertisement is reported, instead of one per tag.
    /// - Throws: `bluetoothUnavailable` while Bluetooth is not on.
    public func startScanning(allowsDuplicates: Bool = false) throws(ManagerScanningError) {
        try tags.startScanning(allowsDuplicates: allowsDuplicates)
    }

    /// Stops the scan. Source: JacquardSDKiOS, `stopScanning`.
    public func stopScanning() { tags.stopScanning() }

    /// The state of Bluetooth: the current state, then each change. Source: JacquardSDKiOS, `centralState`.
    ///
    /// Each access returns a new stream, which buffers the newest 16 changes.
    public var centralState: AsyncStream<CentralState> { centralStates.stream() }

    /// Whether a requested scan is running: the current value, then each change. The search for a missing tag is not
    /// reported. Source: JacquardSDKiOS, `isScanning`.
    ///
    /// Each access returns a new stream, which buffers the newest 16 changes.
    public var isScanning: AsyncStream<Bool> { scanStates.stream() }

    /// The tags that a scan finds from now on. Source: JacquardSDKiOS, `advertisingTags`.
    ///
    /// Each access returns a new stream, which buffers the newest 1,024 tags.
    public var advertisingTags: AsyncStream<AdvertisedTag> { advertisements.stream() }

    /// Tags that were connected before: bonded tags, and tags that are to be connected and were found. Source:
    /// JacquardSDKiOS, `preConnectedTags`.
    ///
    /// The SDK gets the connected devices of all programs from the system. A `Central` has no such request, so the list
    /// is based on the bonds that it reports. A bonded tag that has not advertised since the Bluetooth service started
    /// is missing: its advertisement shows that it is a tag.
    public var preConnectedTags: [PreConnectedTag] {
        tags.bondedAddresses.filter { tags.advertisement(at: $0) != nil }.union(tags.wantedAddresses)
            .sorted { $0.description < $1.description }
            .map { PreConnectedTag(identifier: $0, displayName: tags.advertisement(at: $0)?.displayName ?? "") }
    }
}

extension JacquardManager {
    /// Connects a discovered tag. After the first success, keeps it connected. Source: JacquardSDKiOS, `connect(_
    /// tag:)`.
    ///
    /// The first error before the tag's notifications are enabled is final, including 60 s without a connection: the
    /// tag may be gone or belong to another user. If the tag is already being connected, the call shares that
    /// connection.
    ///
    /// - Parameter tag: an `AdvertisedTag` or ``PreConnectedTag``.
    /// - Returns: the current state and each change, ending with `disconnected`. The stream buffers the newest 64
    ///   states. Dropping it does not disconnect the tag; use ``disconnect(_:)-(BluetoothAddress)``.
    /// - Throws: `unconnectableTag` if `tag` has any other type.
    @discardableResult
    public func connect(_ tag: some ConnectableTag) throws(TagConnectionError) -> AsyncStream<TagConnectionState> {
        guard tag is AdvertisedTag || tag is PreConnectedTag else {
            throw TagConnectionError(.unconnectableTag, "only tags that this manager has reported can be connected")
        }
        return connect(at: tag.identifier, retrying: .oncePaired)
    }

    /// Connects a known tag and retries without a limit. Source: JacquardSDKiOS, `connect(_ identifier:)`.
    ///
    /// Use it with an address that was stored in an earlier run. Only a lost bond and Bluetooth being off are final
    /// errors. If the tag is already being connected, the call shares that connection.
    ///
    /// - Parameter identifier: the tag's address.
    /// - Returns: as ``connect(_:)-(ConnectableTag)``.
    /// - Throws: `bluetoothDeviceNotFound` if the central has reported neither an advertisement nor a bond for the
    ///   address.
    @discardableResult
    public func connect(_ identifier: BluetoothAddress) throws(TagConnectionError) -> AsyncStream<TagConnectionState> {
        try checkKnown(identifier)
        return connect(at: identifier, retrying: .always)
    }

    /// Disconnects a tag. Source: JacquardSDKiOS, `disconnect(_ identifier:)`.
    ///
    /// - Parameter identifier: the tag's address.
    /// - Returns: the states up to `disconnected`, which has no error; an empty stream if the tag is not being
    ///   connected.
    /// - Throws: `bluetoothDeviceNotFound` if the central has reported neither an advertisement nor a bond for the
    ///   address.
    @discardableResult
    public func disconnect(
        _ identifier: BluetoothAddress
    ) throws(TagConnectionError) -> AsyncStream<TagConnectionState> {
        try checkKnown(identifier)
        guard let tag = handle(at: identifier), tags.facts(of: tag)?.isStopped == false else {
            return AsyncStream { $0.finish() }
        }
        let states = follower(of: tag).states.stream()
        tags.disconnect(tag)
        return states
    }

    /// Disconnects a tag. Source: JacquardSDKiOS, `disconnect(_ tag:)`.
    ///
    /// - Returns: as ``disconnect(_:)-(BluetoothAddress)``.
    /// - Throws: `bluetoothDeviceNotFound` if the tag has been forgotten since.
    @discardableResult
    public func disconnect(_ tag: ConnectedTag) throws(TagConnectionError) -> AsyncStream<TagConnectionState> {
        try disconnect(tag.identifier)
    }

    /// Returns the connected tag at an address; nil if it is not connected. Source: JacquardSDKiOS,
    /// `getConnectedTag(for:)`.
    public func connectedTag(for identifier: BluetoothAddress) -> ConnectedTag? {
        guard let tag = handle(at: identifier), tags.isConnected(tag) else { return nil }
        return follower(of: tag).tag
    }

    /// Executes a command of a connected tag.
    func perform(_ command: TagCommand, on tag: ConnectedTag) async throws(TagCommandError) -> TagCommandResponse {
        guard followers[tag.handle]?.tag === tag else { throw .notConnected }
        let response = await withCheckedContinuation { continuation in
            tags.enqueue(command, on: tag.handle, token: responses.add(continuation), isFirst: false)
        }
        return try response.get()
    }

    private func connect(
        at address: BluetoothAddress, retrying rule: TagSession.RetryRule
    ) -> AsyncStream<TagConnectionState> {
        let tag = handle(at: address) ?? handles[address] ?? add(address)
        let states = follower(of: tag).states.stream()
        tags.connect(tag, retrying: rule)
        return states
    }

    private func checkKnown(_ address: BluetoothAddress) throws(TagConnectionError) {
        guard !tags.isKnown(address) else { return }
        throw TagConnectionError(.bluetoothDeviceNotFound, "unknown device: \(address)")
    }

    /// The added tag that is or was connected at an address.
    private func handle(at address: BluetoothAddress) -> TagHandle? {
        tags.tag(at: address).flatMap { tags.identity(of: $0) == nil ? nil : $0 }
    }

    /// Adds a tag that is identified by its address alone.
    private func add(_ address: BluetoothAddress) -> TagHandle {
        let used = Set(handles.values)
        lastHandle = lastHandle.next(in: TagHandle.ofInterface, isUsed: used.contains)
        handles[address] = lastHandle
        tags.add(lastHandle, TagIdentity(address: address))
        return lastHandle
    }

    private func follower(of tag: TagHandle) -> ConnectionFollower {
        if let follower = followers[tag] { return follower }
        let follower = ConnectionFollower(tags.facts(of: tag) ?? TagFacts()) { [weak self] journal in
            guard let self, let address = tags.address(of: tag) else { return nil }
            return ConnectedTag(tag, at: address, journal, self)
        }
        followers[tag] = follower
        return follower
    }
}

/// The callers that wait for the response to a command.
struct PendingResponses {
    typealias Response = Result<TagCommandResponse, TagCommandError>

    private var waiting: [UInt64: CheckedContinuation<Response, Never>] = [:]
    /// Smaller tokens belong to direct users of the tags below.
    private var lastToken: UInt64 = 1 << 63

    /// Adds a caller.
    ///
    /// - Returns: the token for its command.
    mutating func add(_ continuation: CheckedContinuation<Response, Never>) -> UInt64 {
        lastToken += 1
        waiting[lastToken] = continuation
        return lastToken
    }

    /// Resumes the caller of a command that has ended.
    ///
    /// - Returns: false if no caller waits for the token.
    mutating func end(_ token: UInt64, _ response: Response) -> Bool {
        guard !waiting.isEmpty, let continuation = waiting.removeValue(forKey: token) else { return false }
        continuation.resume(returning: response)
        return true
    }
}
