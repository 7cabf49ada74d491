public import EventLoop

/// Faults of bluetoothd, from now on.
@LoopActor
public final class BlueZFaults {
    /// Members that are never answered, such as `Connect`; nothing is done for them either.
    public var unanswered: Set<String> = []
    /// Members that are refused, with name and text of the error.
    public var refused: [String: (name: String, text: String)] = [:]
    /// Addresses of devices that have lost their half of a bond: their link breaks as soon as it is to be encrypted, and
    /// bluetoothd keeps its half. A new bond makes up for it. Source: BlueZ 5.66, `att_connect_cb` in src/device.c.
    public var lostBonds: Set<String> = []
    /// Whether a `Pair` that succeeds is never answered, as after one that was called while services were being discovered.
    /// Source: BlueZ 5.66, `device_browse_gatt` in src/device.c.
    public var forgetsToAnswerPair = false
    /// Whether an `AcquireNotify` that a device has refused for want of encryption is not repeated after the pairing that
    /// follows, and therefore never answered. Seen with bluetoothd 5.66 on a busy machine, once in four times.
    public var losesSubscriptions = false
    /// Whether `ServicesResolved` is signalled before the objects of the services are added.
    public var resolvesBeforeObjects = false
    /// Whether services are resolved without a single object of them, as from a cache that has gone stale.
    public var hidesServices = false
    /// Whether services are resolved without the objects of their characteristics.
    public var hidesCharacteristics = false
    /// Whether services are never resolved.
    public var resolvesNothing = false
    /// Whether it crashes when it receives a device that a filter by service has to be compared with, as bluetoothd 5.87 does.
    /// Source: `is_filter_match` in src/adapter.c.
    public var crashesAtServiceFilter = false
    /// Called when it crashes by itself.
    var onCrash: (() -> Void)?

    init() {}

    /// Ends what lasts and can be made by a command.
    func clear() {
        unanswered = []
        refused = [:]
        lostBonds = []
        hidesServices = false
        hidesCharacteristics = false
        resolvesNothing = false
    }
}

/// The faults that the fake `org.bluez` can simulate.
public enum BlueZFault: Hashable, Sendable {
    /// A member, such as `Connect`, is never answered and does nothing.
    case ignore(member: String)
    /// A member is refused with name and text of an error.
    case refuse(member: String, error: String, text: String)
    /// Services are resolved without the tag's own: no such object is on the bus.
    case hideServices
    /// Services are resolved without their characteristics.
    case hideCharacteristics
    /// Services are never resolved.
    case resolveNothing
    /// Every discovery ends, as after a reset of the controller.
    case endDiscovery
    /// Every device is removed from the bus without a word about its link.
    case removeDevices
    /// Every descriptor of AcquireNotify and AcquireWrite is closed without a signal.
    case closeDescriptors
    /// What lasts of the above is over.
    case clear
}

extension BlueZService {
    /// Starts a fault, performs it, or ends all faults.
    public func inject(_ fault: BlueZFault) {
        switch fault {
        case .ignore(let member): faults.unanswered.insert(member)
        case .refuse(let member, let error, let text): faults.refused[member] = (error, text)
        case .hideServices: faults.hidesServices = true
        case .hideCharacteristics: faults.hidesCharacteristics = true
        case .resolveNothing: faults.resolvesNothing = true
        case .endDiscovery: endDiscovery()
        case .removeDevices: removeDevices()
        case .closeDescriptors: closeDescriptors()
        case .clear: faults.clear()
        }
    }
}
