import FoundationEssentials
import TestSupport

/// The command line of `soak`.
struct SoakOptions {
    /// How long troubles are made.
    var minutes = 3.0
    /// The source of all random choices.
    var seed = UInt64.random(in: 1...999_999)
    /// How many tags there are.
    var tags = 20
    /// The folder with `jacquard2mqtt` and `jacquard-simulator`.
    var programs = "."
    /// How long the idle bridge is watched instead of the soak, in seconds; nil: not at all.
    var idleSeconds: Int?
    /// How much the daemon logs.
    var logLevel = "info"
    /// A trouble that happens often, while no other one happens to the broker, the daemon and BlueZ.
    enum Focus: String {
        /// The broker is frozen.
        case freeze
        /// The daemon is stopped by SIGTERM and started again.
        case stop
        /// Answers to changes of the touch mode are lost; nobody touches the gear.
        case answers
    }

    /// nil for all kinds of trouble.
    var focus: Focus?

    static let usage =
        """
        usage: soak [--minutes N] [--seed S] [--tags 20] [--only freeze|stop|answers] [--idle SECONDS] [--bin DIR] [--log-level LEVEL]
        """

    /// Reads the arguments behind the program's name; nil when they make no sense.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard let value = rest.popFirst(), take(option, value) else { return nil }
        }
    }

    private mutating func take(_ option: String, _ value: String) -> Bool {
        switch option {
        case "--minutes": minutes = Double(value) ?? 0
        case "--seed": seed = UInt64(value) ?? 0
        case "--tags": tags = Int(value) ?? 0
        case "--idle":
            guard let seconds = Int(value), seconds > 0 else { return false }
            idleSeconds = seconds
        case "--only":
            focus = Focus(rawValue: value)
            return focus != nil
        case "--bin": programs = value
        case "--log-level": logLevel = value
        default: return false
        }
        return minutes > 0 && seed > 0 && (1...250).contains(tags)
    }

    /// The serials of all tags, as the simulator gives them.
    var serials: [String] {
        (1...tags).map(simulatedSerial)
    }
}
