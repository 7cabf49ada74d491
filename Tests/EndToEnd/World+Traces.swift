import EventLoop
import Foundation
import MQTTTypes
import TestSupport

/// The traces of the bridge: in its log, at the broker, in its state folder, in BlueZ.
extension World {
    /// Waits until the daemon has logged a text. What it does at the same time may be seen earlier.
    func logs(_ text: String) async throws {
        try await until("in the log: \(text)") { daemon.printed.contains(text) }
    }

    /// The topics that the broker retains at the moment.
    func retainedTopics() async throws -> Set<String> {
        let late = try await Observer(port: broker.port)
        try late.publish("marker/\(UUID().uuidString)", "")
        // What is retained comes with the subscription, and so before what is said after it.
        try await until("all that is retained") { late.messages.contains { $0.topic.hasPrefix("marker/") } }
        await late.stop()
        return Set(late.messages.filter { $0.isRetained && !$0.payload.isEmpty }.map(\.topic))
    }

    /// The part of a tag in the state file; nil while there is no file.
    func stored(_ tag: String) throws -> [String: Any]? {
        guard FileManager.default.fileExists(atPath: folder.path + "/tags.json") else { return nil }
        let data = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/tags.json"))
        let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (document?["tags"] as? [[String: Any]])?.first { $0["id"] as? String == tag }
    }

    /// The objects of BlueZ, as its own tools would see them.
    func bluetoothObjects() async throws -> String {
        try await callBlueZ("/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects").printed
    }

    /// Calls a method of BlueZ, as any other program may.
    func callBlueZ(_ path: String, _ method: String) async throws -> (status: Int32?, printed: String) {
        let bus = environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? ""
        return try await run("dbus-send", ["--bus=" + bus, "--print-reply", "--dest=org.bluez", path, method])
    }

    /// Runs a program in this world to its end.
    func run(_ name: String, _ arguments: [String]) async throws -> (status: Int32?, printed: String) {
        let program = try Program(name, arguments, environment: environment)
        try await until("the end of \(name) \(arguments)") { program.hasEnded }
        return (program.exitStatus, program.printed)
    }
}
