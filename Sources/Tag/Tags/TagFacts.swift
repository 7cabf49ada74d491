package import JacquardProtocol

/// The latest values of a tag's current connection.
package struct TagFacts {
    /// The state of the connection; nil until a connection was requested.
    package private(set) var connection: TagConnection?
    /// The tag's device information; nil until it was received.
    package private(set) var tag: Component?
    /// The attached gear. Nil means that there is none only if ``isGearKnown`` is true.
    package private(set) var gear: Component?
    /// Whether the tag has reported its gear, or that there is none.
    package private(set) var isGearKnown = false
    package private(set) var touchMode: TouchMode?
    package private(set) var battery: BatteryStatus?
    /// Whether the tag is disconnected and will not be connected without a new request. Stored, because it is read
    /// after every event.
    package private(set) var isStopped = true

    /// Creates the values of a tag that was never connected.
    package init() {}

    /// Updates the values from an event. Gestures, touches and results of commands are not stored.
    package mutating func update(with event: TagEvent) {
        switch event {
        case .connection(let connection):
            if connection.state == .connecting(step: 0) { self = TagFacts() }
            self.connection = connection
            isStopped = connection.state == .disconnected
        case .information(let tag): self.tag = tag
        case .gear(let gear):
            self.gear = gear
            isGearKnown = true
            if gear == nil { touchMode = nil }
        case .touchMode(let mode): touchMode = mode
        case .battery(let battery): self.battery = battery
        default: break
        }
    }

    /// The events that have led to the values, in the order of a new connection.
    package var events: [TagEvent] {
        let events: [TagEvent?] = [
            tag.map { .information($0) }, connection.map { .connection($0) }, battery.map { .battery($0) },
            isGearKnown ? .gear(gear) : nil, touchMode.map { .touchMode($0) },
        ]
        return events.compactMap(\.self)
    }

    /// Whether the last connection has ended because the tag had lost its bond.
    var hasLostBond: Bool { isStopped && connection?.error?.code == .peerRemovedPairingInfo }

    /// Whether there is a link.
    package var isLinked: Bool { connection?.state.isLinked ?? false }
}
