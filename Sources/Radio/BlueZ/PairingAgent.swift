import Bluetooth
import DBus
import EventLoop
import Logging

/// An `org.bluez.Agent1` without display and keyboard: accepts expected devices and refuses all others.
///
/// Without a registered agent, bluetoothd refuses a tag that requests a pairing itself. This agent does not become the
/// default one, so that a desktop's own agent keeps serving the user's other devices. Source: BlueZ 5.66,
/// `doc/agent-api.txt`, `src/agent.c`.
@LoopActor
final class PairingAgent {
    /// The object path of the agent.
    private static let path = "/org/jacquard2mqtt/agent"
    private static let interface = "org.bluez.Agent1"
    /// Upper bound on remembered refused devices. Repeated attempts don't flood the log.
    private static let memory = 100

    /// Whether a device may pair, by its path.
    private let isExpected: (String) -> Bool
    private let log: Logger
    /// The unique name of bluetoothd, the only permitted caller.
    private var owner = ""
    private var refused: Set<String> = []

    init(log: Logger, isExpected: @escaping (String) -> Bool) {
        self.log = log
        self.isExpected = isExpected
    }

    /// Exports the agent on a bus and registers it with a new bluetoothd.
    ///
    /// - Parameters:
    ///   - bus: the connection.
    ///   - owner: the unique name of bluetoothd.
    func register(on bus: DBusConnection, with owner: String) {
        self.owner = owner
        bus.serve(Self.path) { [weak self] in self?.answer($0) }
        let message = DBusMessage.call(
            to: BlueZNames.service, BlueZNames.tree, "org.bluez.AgentManager1", "RegisterAgent",
            [.objectPath(Self.path), .string("NoInputNoOutput")])
        bus.call(message, within: .seconds(10)) { [weak self] result in
            guard let self, owner == self.owner, case .failure(let error) = result else { return }
            log.warning("registering the pairing agent failed", [(.error, error.description)])
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
        // All other methods require a display or a keyboard.
        default: call.refuse("org.bluez.Error.Rejected", "this agent has neither display nor keyboard")
        }
    }

    private func decide(_ call: DBusMethodCall) {
        let device = call.message.arguments.first?.text ?? ""
        guard isExpected(device) else {
            logRefusal(of: device)
            return call.refuse("org.bluez.Error.Rejected", "the device is not expected")
        }
        log.notice("accepted a pairing", [(.path, device), (.member, call.message.member)])
        call.reply()
    }

    private func logRefusal(of device: String) {
        guard refused.count < Self.memory, refused.insert(device).inserted else { return }
        log.notice("refused the pairing of an unexpected device", [(.path, device)])
    }
}
