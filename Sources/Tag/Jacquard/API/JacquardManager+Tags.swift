public import Bluetooth
import EventLoop
public import JacquardProtocol

extension JacquardManager {
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
        let found = drivers.keys.filter { drivers[$0]?.facts.isStopped == false }
        return sightings.bonded.filter { sightings[$0] != nil }.union(found)
            .sorted { $0.description < $1.description }
            .map { PreConnectedTag(identifier: $0, displayName: sightings[$0]?.displayName ?? "") }
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
    /// - Parameter tag: an ``AdvertisedTag`` or ``PreConnectedTag``.
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
        guard let driver = drivers[identifier], !driver.facts.isStopped else { return AsyncStream { $0.finish() } }
        let states = follower(of: driver.row).states.stream()
        disconnect(driver.row)
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
        guard let driver = drivers[identifier], driver.session.isConnected else { return nil }
        return follower(of: driver.row).tag
    }

    /// Executes a command of a connected tag.
    func perform(_ command: TagCommand, on tag: ConnectedTag) async throws(TagCommandError) -> TagCommandResponse {
        guard let row = tag.row, row.follower?.tag === tag else { throw .notConnected }
        let response = await withCheckedContinuation { continuation in
            enqueue(command, on: row, token: responses.add(continuation))
        }
        return try response.get()
    }

    private func connect(
        at address: BluetoothAddress, retrying rule: TagSession.RetryRule
    ) -> AsyncStream<TagConnectionState> {
        let row = drivers[address]?.row ?? row(of: TagIdentity(address: address)) { newHandle() }
        let states = follower(of: row).states.stream()
        connect(row, retrying: rule)
        return states
    }

    private func checkKnown(_ address: BluetoothAddress) throws(TagConnectionError) {
        guard drivers[address] == nil, !sightings.isKnown(address) else { return }
        throw TagConnectionError(.bluetoothDeviceNotFound, "unknown device: \(address)")
    }

    /// A handle for a tag that the owner has not added.
    private func newHandle() -> TagHandle {
        lastHandle = lastHandle.next(in: TagHandle.ofInterface) { handle in
            rowsByIdentity.values.contains { $0.handle == handle }
        }
        return lastHandle
    }

    private func follower(of row: TagRow) -> ConnectionFollower {
        if let follower = row.follower { return follower }
        let follower = ConnectionFollower(row.driver?.facts ?? TagFacts()) { [weak self, weak row] journal in
            guard let self, let row, let address = row.driver?.address else { return nil }
            return ConnectedTag(row, at: address, journal, self)
        }
        row.follower = follower
        return follower
    }
}

/// The callers that wait for the response to a command.
struct PendingResponses {
    typealias Response = Result<TagCommandResponse, TagCommandError>

    private var waiting: [UInt64: CheckedContinuation<Response, Never>] = [:]
    /// Smaller tokens belong to callers of ``JacquardManager/enqueue(_:on:token:)``.
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
