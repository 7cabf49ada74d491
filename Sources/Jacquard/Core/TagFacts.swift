import JacquardProtocol

/// The last that a tag has told of each thing in its present connection.
struct TagFacts {
    /// Where its connection stands; nil until somebody has wanted one.
    private(set) var connection: TagConnection?
    /// What it is; nil until it has told.
    private(set) var tag: Component?
    /// What it is clipped into; see ``isGearTold``.
    private(set) var gear: Component?
    /// Whether it has told its gear, or that there is none.
    private(set) var isGearTold = false
    private(set) var touchMode: TouchMode?
    private(set) var battery: BatteryStatus?

    /// Takes what is told; gestures, touches and the ends of commands leave no fact.
    mutating func take(_ event: TagEvent) {
        switch event {
        case .connection(let connection):
            if connection.state == .connecting(step: 0) { self = TagFacts() }
            self.connection = connection
        case .information(let tag): self.tag = tag
        case .gear(let gear):
            self.gear = gear
            isGearTold = true
            if gear == nil { touchMode = nil }
        case .touchMode(let mode): touchMode = mode
        case .battery(let battery): self.battery = battery
        case .gesture, .touch, .fragmentsLost, .commandEnded: break
        }
    }

    /// Whether nobody wants the tag connected, or it cannot be.
    var isStopped: Bool {
        connection.map { $0.state == .disconnected } ?? true
    }

    /// Whether there is a link.
    var isLinked: Bool { connection?.state.isLinked ?? false }
}
