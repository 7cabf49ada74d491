import Bluetooth
import DBus
import EventLoop
import Logging

/// `org.bluez.Agent1` without display and keyboard: says yes to devices that are expected, and no to all others.
///
/// A tag that asks for pairing by itself is refused by bluetoothd unless an agent is registered. Ours does not ask to be the
/// default one: where a desktop has its own, that one goes on serving the user's other devices.
/// Source: BlueZ 5.66, `doc/agent-api.txt`, `src/agent.c`.
@LoopActor
final class PairingAgent {
    /// Where the agent is on the bus.
    private static let path = "/org/jacquard2mqtt/agent"
    private static let interface = "org.bluez.Agent1"
    /// So many refused devices are remembered, so that who knocks again and again fills no log.
    private static let memory = 100

    /// Whether a device may pair, by its path.
    private let isExpected: (String) -> Bool
    private let log: Logger
    /// The unique name of bluetoothd: nobody else may ask.
    private var owner = ""
    private var refused: Set<String> = []

    init(log: Logger, isExpected: @escaping (String) -> Bool) {
        self.log = log
        self.isExpected = isExpected
    }

    /// Offers the agent on a bus and registers it with a bluetoothd that has just come.
    ///
    /// - Parameters:
    ///   - bus: our connection.
    ///   - owner: the unique name of that bluetoothd.
    func register(on bus: DBusConnection, with owner: String) {
        self.owner = owner
        bus.serve(Self.path) { [weak self] in self?.answer($0) }
        let message = DBusMessage.call(
            to: BlueZNames.service, BlueZNames.tree, "org.bluez.AgentManager1", "RegisterAgent",
            [.objectPath(Self.path), .string("NoInputNoOutput")])
        bus.call(message, within: .seconds(10)) { [weak self] result in
            guard let self, owner == self.owner, case .failure(let error) = result else { return }
            log.warning("BlueZ takes no pairing agent", [(.error, error.description)])
        }
    }

    private func answer(_ call: DBusMethodCall) {
        guard call.message.sender == owner else {
            return call.refuse("org.freedesktop.DBus.Error.AccessDenied", "only bluetoothd may ask")
        }
        guard call.message.interface == Self.interface else {
            return call.refuse("org.freedesktop.DBus.Error.UnknownInterface", "an agent has \(Self.interface) only")
        }
        switch call.message.member {
        case "Release", "Cancel": call.reply()
        case "RequestAuthorization", "RequestConfirmation", "AuthorizeService": decide(call)
        // Everything else wants a person with a display or a keyboard.
        default: call.refuse("org.bluez.Error.Rejected", "this agent has neither display nor keyboard")
        }
    }

    private func decide(_ call: DBusMethodCall) {
        let device = call.message.arguments.first?.text ?? ""
        guard isExpected(device) else {
            tellRefusal(of: device)
            return call.refuse("org.bluez.Error.Rejected", "the device is not expected")
        }
        log.notice("a device pairs", [(.path, device), (.member, call.message.member)])
        call.reply()
    }

    private func tellRefusal(of device: String) {
        guard refused.count < Self.memory, refused.insert(device).inserted else { return }
        log.notice("a device that is not expected is refused pairing", [(.path, device)])
    }
}
