/// The parts of a world that differ from the usual ones.
struct WorldPlan: Sendable {
    /// How many tags there are; their serials are 0001 and on.
    var tags = 1
    /// Further options of the simulator.
    var options: [String] = []
    /// The configuration below `tags`; nil lists all tags.
    var tagList: String?
    /// Further lines of the configuration's `mqtt`.
    var mqtt: [String] = []
    /// Further lines of the configuration.
    var settings = ""
    /// Further lines of the broker's configuration.
    var broker: [String] = []
    /// The topics that the observer subscribes to.
    var observed = ["#"]
    /// How many nodes the broker has, which share nothing.
    var nodes = 1
    /// Whether a proxy stands between the daemon and the broker.
    var isBehindProxy = false
    /// A program and its arguments, which runs the daemon under its own conditions; none runs it as it is.
    var runner: [String] = []
    /// Whether to wait until the bridge is online.
    var isBridgeExpected = true

    /// The configuration of a bridge whose broker has one address.
    func configuration(port: UInt16) -> String { configuration(ports: [port]) }

    /// The configuration of the bridge.
    func configuration(ports: [UInt16]) -> String {
        let address =
            ports.count == 1
            ? "  port: \(ports[0])" : "  hosts: [\(ports.map { "127.0.0.1:\($0)" }.joined(separator: ", "))]"
        let lines =
            ["instance: \(World.instance)", "mqtt:", address] + mqtt.map { "  " + $0 }
            + ["log:", "  level: debug", "tags:" + list, settings]
        return lines.joined(separator: "\n") + "\n"
    }

    private var list: String {
        if let tagList { return tagList.isEmpty ? " []" : "\n" + tagList }
        return "\n" + (1...max(1, tags)).map { "  - serial: \(World.serial($0))" }.joined(separator: "\n")
    }
}
