import DBus
import EventLoop

/// `org.bluez.AgentManager1`: who answers when a device wants to be paired.
@LoopActor
final class AgentManager1: BusObject {
    let path = "/org/bluez"
    private let connection: DBusConnection
    /// Path of the agent of each client.
    private var agents: [String: String] = [:]
    private var defaults: [String] = []

    private static let capabilities: Set = [
        "", "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay",
    ]

    init(on connection: DBusConnection) {
        self.connection = connection
    }

    var interfaces: [BusInterface] {
        [
            BusInterface(
                name: "org.bluez.AgentManager1",
                methods: [
                    BusMethod("RegisterAgent", takes: "os") { self.register($0) },
                    BusMethod("UnregisterAgent", takes: "o") { self.unregister($0) },
                    BusMethod("RequestDefaultAgent", takes: "o") { self.makeDefault($0) },
                ])
        ]
    }

    /// Forgets the agent of a client that has left the bus.
    func clientLeft(_ client: String) {
        agents[client] = nil
        defaults.removeAll { $0 == client }
    }

    /// Asks the default agent, or any other, whether a device that asks for it may be paired.
    ///
    /// - Parameters:
    ///   - device: its path.
    ///   - completion: called with the answer; no agent is a no.
    func requestAuthorization(_ device: String, completion: @escaping (Bool) -> Void) {
        guard let client = defaults.last ?? agents.keys.min(), let agent = agents[client] else {
            return completion(false)
        }
        let message = DBusMessage.call(
            to: client, agent, "org.bluez.Agent1", "RequestAuthorization", [.objectPath(device)])
        connection.call(message, within: .seconds(60)) { result in
            completion((try? result.get()) != nil)
        }
    }

    private func register(_ call: BusCall) {
        guard agents[call.sender] == nil else { return call.refuse(.alreadyExists) }
        guard let path = call.arguments[0].text, let capability = call.arguments[1].text,
            Self.capabilities.contains(capability)
        else {
            return call.refuse(.invalidArguments)
        }
        agents[call.sender] = path
        call.reply()
    }

    private func unregister(_ call: BusCall) {
        guard isOwn(call) else { return call.refuse(.doesNotExist) }
        clientLeft(call.sender)
        call.reply()
    }

    private func makeDefault(_ call: BusCall) {
        guard isOwn(call) else { return call.refuse(.doesNotExist) }
        defaults.removeAll { $0 == call.sender }
        defaults.append(call.sender)
        call.reply()
    }

    private func isOwn(_ call: BusCall) -> Bool {
        agents[call.sender] != nil && agents[call.sender] == call.arguments[0].text
    }
}
