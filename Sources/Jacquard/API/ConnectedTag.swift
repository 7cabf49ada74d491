public import Bluetooth
public import EventLoop
public import JacquardProtocol

/// A tag in one connection. Source: JacquardSDKiOS, `ConnectedTag`.
///
/// It lives as long as the connection. Afterwards its streams have ended, its commands fail with `notConnected`, and the
/// next connection brings another one.
@LoopActor
public final class ConnectedTag: JacquardTag {
    /// Its address on the air.
    public let identifier: BluetoothAddress
    /// Its name; the same as ``name``.
    public var displayName: String { name }
    /// The name that it advertised last, or that it has been given since; empty while nobody has heard it.
    public private(set) var name: String
    /// Signal strength in dBm when it was heard last, which is before the link: a linked tag does not advertise, and the
    /// central has no request for more. Nil when it was not available. Source: JacquardSDKiOS, `rssiPublisher`.
    public private(set) var rssi: Int?

    let identity: TagIdentity
    private let journal: TagJournal
    private weak let manager: JacquardManager?
    private let firstComponent: Component

    init?(_ identity: TagIdentity, at address: BluetoothAddress, _ journal: TagJournal, _ manager: JacquardManager) {
        guard let component = journal.facts.tag else { return nil }
        self.identity = identity
        identifier = address
        firstComponent = component
        self.journal = journal
        self.manager = manager
        let sighting = manager.sightings[address]
        name = sighting?.displayName ?? ""
        rssi = sighting?.rssi
        if !name.isEmpty { journal.names.send(name) }
    }

    /// The tag as a component: what it is, its firmware and its serial number.
    public var tagComponent: Component { journal.facts.tag ?? firstComponent }

    /// What it is clipped into; nil if that is nothing, or not told yet.
    public var gearComponent: Component? { journal.facts.gear }

    /// What tag and gear can do together.
    public var capabilities: Set<Capability> { tagComponent.capabilities.union(gearComponent?.capabilities ?? []) }

    /// What the gear reports; nil without gear, and before it is set: the SDK sets gestures whenever gear is attached.
    public var touchMode: TouchMode? { journal.facts.touchMode }

    /// The gear, each time it is attached or detached. The present one comes first, as soon as it is known; attached gear
    /// comes twice, at once and with its firmware and serial number.
    ///
    /// Each use is a stream of its own. Of 16 changes that nobody reads the oldest are lost.
    public var connectedGear: AsyncStream<Component?> { journal.gears.stream() }

    /// The name, as soon as it is known, and each change of it. Source: JacquardSDKiOS, `namePublisher`.
    ///
    /// Each use is a stream of its own. Of 16 changes that nobody reads the oldest are lost.
    public var names: AsyncStream<String> { journal.names.stream() }

    /// What the tag tells by itself: battery, gear, gestures, touches. Source: JacquardSDKiOS, `registerSubscriptions`.
    ///
    /// Nothing is missed: what came since the link is up is kept for the first use, at most 256, and for all further ones
    /// until one more comes; later ones begin with what comes then. Each use is a stream of its own; of 1,024 that nobody
    /// reads the oldest are lost.
    public var notifications: AsyncStream<TagNotification> { journal.notifications.subscribe() }

    /// Asks the tag to do something. Commands are carried out one after another, each answered within eight seconds.
    ///
    /// There is no retry: a command that was sent and not answered may have had its effect. Cancelling the task does not
    /// take the command back.
    ///
    /// - Parameter command: what to do.
    /// - Returns: what the tag answered.
    /// - Throws: `notConnected` once the connection is over, `linkLost` if it ends before the answer; else what the tag or
    ///   its gear says. The tag can be used further.
    @discardableResult
    public func enqueue(_ command: TagCommand) async throws(TagCommandError) -> TagCommandAnswer {
        guard let manager else { throw .notConnected }
        return try await manager.ask(command, of: self)
    }

    /// Switches gear between gestures and continuous touch.
    ///
    /// - Parameters:
    ///   - mode: the mode.
    ///   - component: the gear, as ``gearComponent`` has it.
    /// - Throws: `gearNotAttached` if that gear is not attached (any more), else as ``enqueue(_:)``.
    public func setTouchMode(_ mode: TouchMode, for component: Component) async throws(TagCommandError) {
        guard component.componentID == gearComponent?.componentID else { throw .gearNotAttached }
        try await enqueue(.setTouchMode(mode))
    }

    /// Gives the tag another name. It drops the link then and comes back by itself: the next ``ConnectedTag`` has the name.
    ///
    /// - Parameter name: 1 to 21 bytes of UTF-8, unequal to the present one.
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
        manager?.sightings.rename(identifier, to: name)
    }

    /// An advertisement came although there is a link: the last words before it, or news of the name.
    func heard(_ tag: AdvertisedTag) {
        rssi = tag.rssi ?? rssi
        if !tag.displayName.isEmpty { renamed(to: tag.displayName) }
    }

    private func renamed(to name: String) {
        guard name != self.name else { return }
        self.name = name
        journal.names.send(name)
    }
}

/// Why a tag has not got its new name. Source: JacquardSDKiOS, `SetNameError`.
public enum SetNameError: Error, Hashable, Sendable {
    /// The name is empty, longer than 21 bytes of UTF-8, or the present one; nothing was sent.
    case invalidParameter
    /// The tag did not carry it out, or nobody knows whether it did.
    case failed(TagCommandError)
}
