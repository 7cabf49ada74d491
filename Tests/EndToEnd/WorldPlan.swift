/// What a world is made of, where it differs from the usual one.
struct WorldPlan: Sendable {
    /// How many tags there are; their serials are 0001 and on.
    var tags = 1
    /// Further options of the simulator.
    var options: [String] = []
    /// What the configuration has below `tags`; nil lists all tags.
    var tagList: String?
    /// Further lines of the configuration's `mqtt`.
    var mqtt: [String] = []
    /// Further lines of the configuration.
    var settings = ""
    /// Further lines of the broker's configuration.
    var broker: [String] = []
    /// Whether a proxy stands between the daemon and the broker.
    var isBehindProxy = false
    /// A program and its arguments, which runs the daemon under its own conditions; none runs it as it is.
    var runner: [String] = []
    /// Whether to wait until the bridge is online.
    var isBridgeExpected = true

    /// The configuration of the bridge.
    func configuration(port: UInt16) -> String {
        let lines =
            ["instance: \(World.instance)", "mqtt:", "  port: \(port)"] + mqtt.map { "  " + $0 }
            + ["log:", "  level: debug", "tags:" + list, settings]
        return lines.joined(separator: "\n") + "\n"
    }

    private var list: String {
        if let tagList { return tagList.isEmpty ? " []" : "\n" + tagList }
        return "\n" + (1...max(1, tags)).map { "  - serial: \(World.serial($0))" }.joined(separator: "\n")
    }
}
