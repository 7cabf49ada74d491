public import Bluetooth
public import EventLoop
public import JacquardProtocol
import Tags

/// A connected tag. Source: JacquardSDKiOS, `ConnectedTag`.
///
/// An instance is valid for one connection. When the connection ends, its streams finish and its commands fail with
/// `notConnected`. The next connection has a new instance.
@LoopActor
public final class ConnectedTag: JacquardTag {
    /// The tag's Bluetooth address.
    public let identifier: BluetoothAddress
    /// The tag's name; the same as ``name``.
    public var displayName: String { name }
    /// The last advertised name, or the name set since then. Empty until the tag has advertised a name.
    public private(set) var name: String
    /// Signal strength in dBm of the last advertisement; nil if it was not available.
    ///
    /// The value is older than the connection: a connected tag does not advertise, and `Central` has no request for the
    /// signal strength of a link. Source: JacquardSDKiOS, `rssiPublisher`.
    public private(set) var rssi: Int?

    let handle: TagHandle
    private let journal: TagJournal
    private weak let manager: JacquardManager?
    private let firstComponent: Component

    init?(_ handle: TagHandle, at address: BluetoothAddress, _ journal: TagJournal, _ manager: JacquardManager) {
        guard let component = journal.facts.tag else { return nil }
        self.handle = handle
        identifier = address
        firstComponent = component
        self.journal = journal
        self.manager = manager
        let sighting = manager.tags.advertisement(at: address)
        name = sighting?.displayName ?? ""
        rssi = sighting?.rssi
        if !name.isEmpty { journal.names.send(name) }
    }

    /// The tag as a component: vendor, product, firmware and serial number.
    public var tagComponent: Component { journal.facts.tag ?? firstComponent }

    /// The attached gear; nil if there is none or the tag has not reported it yet.
    public var gearComponent: Component? { journal.facts.gear }

    /// The capabilities of the tag and its gear.
    public var capabilities: Set<Capability> { tagComponent.capabilities.union(gearComponent?.capabilities ?? []) }

    /// The touch mode of the gear; nil without gear, and until the mode is set.
    ///
    /// Whenever gear is attached, its mode is set to gestures, as in the SDK.
    public var touchMode: TouchMode? { journal.facts.touchMode }

    /// The gear, each time it is attached or detached; nil when it is detached.
    ///
    /// The stream starts with the current gear as soon as it is known. Attached gear is sent twice: at once, and again
    /// with its firmware and serial number. Each access returns a new stream, which buffers the newest 16 changes.
    public var connectedGear: AsyncStream<Component?> { journal.gears.stream() }

    /// The name as soon as it is known, and each change. Source: JacquardSDKiOS, `namePublisher`.
    ///
    /// Each access returns a new stream, which buffers the newest 16 changes.
    public var names: AsyncStream<String> { journal.names.stream() }

    /// Notifications from the tag: battery, gear, gestures and touches. Source: JacquardSDKiOS,
    /// `registerSubscriptions`.
    ///
    /// The newest 256 notifications since the link came up are stored for the first stream. Streams created before the
    /// next notification get them too; streams created later start with the next notification. Each access returns a
    /// new stream, which buffers the newest 1,024 notifications.
    public var notifications: AsyncStream<TagNotification> { journal.notifications.subscribe() }

    /// Sends a command to the tag and waits for the response, at most 8 s once the command is sent.
    ///
    /// Commands are executed one after another. They are not retried: a command without a response may have taken
    /// effect. Cancelling the task does not withdraw the command.
    ///
    /// - Parameter command: the command.
    /// - Returns: the tag's response.
    /// - Throws: `notConnected` after the connection has ended, `linkLost` if it ends before the response arrives,
    ///   otherwise the error of the tag or its gear. The tag remains usable.
    @discardableResult
    public func enqueue(_ command: TagCommand) async throws(TagCommandError) -> TagCommandResponse {
        guard let manager else { throw .notConnected }
        return try await manager.perform(command, on: self)
    }

    /// Switches gear between gestures and continuous touch.
    ///
    /// - Parameters:
    ///   - mode: the mode.
    ///   - component: the gear, from ``gearComponent``.
    /// - Throws: `gearNotAttached` if that gear is not attached now, otherwise the errors of ``enqueue(_:)``.
    public func setTouchMode(_ mode: TouchMode, for component: Component) async throws(TagCommandError) {
        guard component.componentID == gearComponent?.componentID else { throw .gearNotAttached }
        try await enqueue(.setTouchMode(mode))
    }

    /// Renames the tag. The tag then disconnects and reconnects; the next ``ConnectedTag`` has the new name.
    ///
    /// - Parameter name: 1 to 21 bytes of UTF-8, different from the current name.
    /// - Throws: ``SetNameError``.
    public func setName(_ name: String) async throws(SetNameError) {
        let isPresent = name.utf8.elementsEqual(self.name.utf8)
        guard BLEConfiguration.nameByteCounts.contains(name.utf8.count), !isPresent else { throw .invalidParameter }
        do throws(TagCommandError) {
            try await enqueue(.rename(name))
        } catch {
            throw error == .invalidParameter ? .invalidParameter : .failed(error)
        }
        renamed(to: name)
        manager?.tags.renamed(identifier, to: name)
    }

    /// Calls a handler for each report of motion data, and with nil at the end of the connection.
    ///
    /// - Returns: a number for ``endObservingMotion(_:)``.
    func observeMotion(_ handler: @escaping @LoopActor (MotionReport?) -> Void) -> Int {
        journal.motion.add(handler)
    }

    func endObservingMotion(_ number: Int) { journal.motion.remove(number) }

    /// Updates name and signal strength from an advertisement that was reported after the link came up.
    func update(from tag: AdvertisedTag) {
        rssi = tag.rssi ?? rssi
        if !tag.displayName.isEmpty { renamed(to: tag.displayName) }
    }

    private func renamed(to name: String) {
        guard name != self.name else { return }
        self.name = name
        journal.names.send(name)
    }
}

/// An error of ``ConnectedTag/setName(_:)``. Source: JacquardSDKiOS, `SetNameError`.
public enum SetNameError: Error, Equatable, Sendable {
    /// The name is empty, longer than 21 bytes of UTF-8, or the current one. Nothing was sent.
    case invalidParameter
    /// The command failed. After `timeout` or `linkLost` the tag may have the new name.
    case failed(TagCommandError)
}
