import JSON
import JacquardProtocol
import TagFirmware
import Time

/// The request of a command to a tag.
struct Demand {
    enum Kind: Equatable {
        /// Nothing: the command is invalid, and fails with this code.
        case invalid(String)
        /// An effect at the tag.
        case effect(Effect)
        /// The response to a request without an effect.
        case response
        /// The signal strength, for which nothing is sent.
        case signal
        case connect, disconnect
    }

    /// An effect that a person near the tag would notice, without its details.
    enum Effect: Hashable {
        case led(onGear: Bool, isOn: Bool)
        case haptic
        case touchMode(TouchMode)
        case name(String)
        case store
    }

    let kind: Kind
    /// How long the command may wait for the tag.
    let timeToLive: Duration

    /// Reads a command of ``People``.
    init(_ topic: String, _ payload: String) {
        let arguments = JSONValue(parsing: Array(payload.utf8))
        timeToLive = .milliseconds(arguments?["ttl_ms"]?.integer ?? 10_000)
        let name = topic.split(separator: "/").suffix(2).joined(separator: "/")
        kind =
            switch name {
            case "led/set" where arguments?["color"]?.integer != nil: .invalid("invalid_argument")
            case "led/set":
                .effect(
                    .led(
                        onGear: arguments?["component"]?.string == "gear", isOn: arguments?["state"]?.string != "OFF"))
            case "haptic/set": .effect(.haptic)
            case "touch_mode/set":
                .effect(.touchMode(arguments?["touch_mode"]?.string == "continuous" ? .continuous : .gesture))
            case "name/set": .effect(.name(arguments?["name"]?.string ?? ""))
            case "config/set": .effect(.store)
            case "battery/get", "info/get", "config/get": .response
            case "rssi/get": .signal
            case "connection/set": payload.contains("disconnect") ? .disconnect : .connect
            default: .invalid("unknown_command")
            }
    }

    /// The capability of gear that the command needs; nil if it is not for gear.
    var capability: Capability? {
        switch kind {
        case .effect(.led(onGear: true, _)): .led
        case .effect(.haptic): .haptic
        case .effect(.touchMode(let mode)): mode == .gesture ? .gesture : .touchDataStream
        default: nil
        }
    }

    /// The name that the command sets; nil if it sets none.
    var name: String? { if case .effect(.name(let name)) = kind { name } else { nil } }

    var isForConnection: Bool { kind == .connect || kind == .disconnect }
}

extension Demand.Effect {
    /// Converts the effect of a request; nil for one that no command of ``People`` has.
    init?(_ effect: TagEffect) {
        switch effect {
        case .led(let pattern, let target): self = .led(onGear: target == .gear, isOn: !pattern.haltsAll)
        case .haptic: self = .haptic
        case .touchMode(let mode): self = .touchMode(mode)
        case .renamed(let name): self = .name(name)
        case .stored: self = .store
        case .disconnect, .unrecorded: return nil
        }
    }
}

/// The latest events of a tag that decide about results of commands.
struct TagHistory {
    /// When its link has begun to end, by either side.
    var linkEnded = Instant(sinceBoot: .zero)
    /// When its place has changed during a link: packets may have waited.
    var linkMoved = Instant(sinceBoot: .zero)
    var gearChanged = Instant(sinceBoot: .zero)
    /// When another program has begun or ended a link.
    var usedElsewhere = Instant(sinceBoot: .zero)
    /// When it has received a request.
    var requested = Instant(sinceBoot: .zero)
    var effects: [Demand.Effect: Instant] = [:]
    /// When a request to connect or to disconnect it was sent, and when one to connect it was received.
    private var connectSent = Instant(sinceBoot: .zero)
    private var connectReceived = Instant(sinceBoot: .zero)
    private var disconnectSent = Instant(sinceBoot: .zero)
    /// Until when it may have been held.
    var heldUntil = Instant(sinceBoot: .zero)
    /// When its only bridge has reported that it is held; nil if it may not be held any more.
    private(set) var heldSince: Instant?

    /// A command is sent.
    ///
    /// - Parameters:
    ///   - demand: the command.
    ///   - now: the current time.
    ///   - isReceived: whether all bridges certainly receive it.
    mutating func sent(_ demand: Demand, at now: Instant, isReceived: Bool) {
        switch demand.kind {
        case .connect:
            (connectSent, heldSince) = (now, nil)
            if isReceived { connectReceived = now }
        case .disconnect: disconnectSent = now
        default: break
        }
    }

    /// Whether a request to connect it was sent at an instant or later.
    func mayBeWanted(since instant: Instant) -> Bool { connectSent >= instant }

    /// Whether it may have been held since an instant.
    func mayBeHeld(since instant: Instant) -> Bool {
        heldUntil >= instant || disconnectSent > Instant(sinceBoot: .zero) && disconnectSent >= connectReceived
    }

    /// A bridge has reported that it is held, because of a command of this time.
    mutating func held(by sentAt: Instant, at now: Instant) {
        if connectSent < sentAt { heldSince = now }
    }
}
