public import Bluetooth
import EventLoop
public import JacquardProtocol

extension JacquardManager {
    /// Connects a tag that was found, and keeps it connected once that has succeeded. Source: JacquardSDKiOS,
    /// `connect(_ tag:)`.
    ///
    /// The first error before its notifications are on is final, 60 seconds without a connection being one: what was found
    /// may be gone, or somebody else's. Whoever wants the tag already is joined: there is one connection.
    ///
    /// - Parameter tag: an ``AdvertisedTag`` or ``PreConnectedTag``.
    /// - Returns: the present state and each change, ending with `disconnected`. Of 64 states that nobody reads the oldest are
    ///   lost. Leaving the stream alone changes nothing; ``disconnect(_:)-(BluetoothAddress)`` ends the connection.
    /// - Throws: `unconnectableTag` for a type of another make.
    @discardableResult
    public func connect(_ tag: some ConnectableTag) throws(TagConnectionError) -> AsyncStream<TagConnectionState> {
        guard tag is AdvertisedTag || tag is PreConnectedTag else {
            throw TagConnectionError(.unconnectableTag, "only tags that this manager has told of can be connected")
        }
        return connect(at: tag.identifier, retrying: .oncePaired)
    }

    /// Connects a tag that is known, and keeps trying for ever. Source: JacquardSDKiOS, `connect(_ identifier:)`.
    ///
    /// For an address that was kept from an earlier run. Only a lost bond, and Bluetooth being off, are final. Whoever wants
    /// the tag already is joined.
    ///
    /// - Parameter identifier: the tag's address.
    /// - Returns: as ``connect(_:)-(ConnectableTag)``.
    /// - Throws: `bluetoothDeviceNotFound` for an address that the central has told nothing of: no advertisement and no bond.
    @discardableResult
    public func connect(_ identifier: BluetoothAddress) throws(TagConnectionError) -> AsyncStream<TagConnectionState> {
        try checkKnown(identifier)
        return connect(at: identifier, retrying: .always)
    }

    /// Disconnects a tag. Source: JacquardSDKiOS, `disconnect(_ identifier:)`.
    ///
    /// - Parameter identifier: the tag's address.
    /// - Returns: the states until `disconnected`, without an error; of a tag that is not wanted none.
    /// - Throws: `bluetoothDeviceNotFound` for an address that the central has told nothing of.
    @discardableResult
    public func disconnect(
        _ identifier: BluetoothAddress
    ) throws(TagConnectionError) -> AsyncStream<TagConnectionState> {
        try checkKnown(identifier)
        guard let driver = drivers[identifier], !driver.facts.isStopped else { return AsyncStream { $0.finish() } }
        let states = follower(of: driver.identity).states.stream()
        disconnect(driver.identity)
        return states
    }

    /// Disconnects a tag. Source: JacquardSDKiOS, `disconnect(_ tag:)`.
    ///
    /// - Returns: as ``disconnect(_:)-(BluetoothAddress)``.
    /// - Throws: `bluetoothDeviceNotFound` if the tag has been forgotten meanwhile.
    @discardableResult
    public func disconnect(_ tag: ConnectedTag) throws(TagConnectionError) -> AsyncStream<TagConnectionState> {
        try disconnect(tag.identifier)
    }

    /// The tag at an address, if it is connected now. Source: JacquardSDKiOS, `getConnectedTag(for:)`.
    public func connectedTag(for identifier: BluetoothAddress) -> ConnectedTag? {
        guard let driver = drivers[identifier], driver.session.isConnected else { return nil }
        return follower(of: driver.identity).tag
    }

    /// A command of a connected tag.
    func ask(_ command: TagCommand, of tag: ConnectedTag) async throws(TagCommandError) -> TagCommandAnswer {
        guard followers[tag.identity]?.tag === tag else { throw .notConnected }
        let answer = await withCheckedContinuation { continuation in
            enqueue(command, on: tag.identity, token: answers.add(continuation))
        }
        return try answer.get()
    }

    private func connect(
        at address: BluetoothAddress, retrying rule: TagSession.RetryRule
    ) -> AsyncStream<TagConnectionState> {
        let identity = drivers[address]?.identity ?? TagIdentity(address: address)
        let states = follower(of: identity).states.stream()
        connect(identity, retrying: rule)
        return states
    }

    private func checkKnown(_ address: BluetoothAddress) throws(TagConnectionError) {
        guard drivers[address] == nil, !sightings.isKnown(address) else { return }
        throw TagConnectionError(.bluetoothDeviceNotFound, "nothing is known of a device at \(address)")
    }

    private func follower(of identity: TagIdentity) -> ConnectionFollower {
        if let follower = followers[identity] { return follower }
        let follower = ConnectionFollower(tags[identity]?.facts ?? TagFacts()) { [weak self] journal in
            guard let self, let address = tags[identity]?.address else { return nil }
            return ConnectedTag(identity, at: address, journal, self)
        }
        followers[identity] = follower
        return follower
    }
}
