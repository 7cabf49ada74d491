import Time

/// The command line of `simulate`.
struct SimulationOptions {
    /// Source of everything that is drawn.
    var seed: UInt64 = 1
    /// The simulated time.
    var duration = Duration.seconds(1_800)
    var bridges = 1
    var tags = 8
    var isTracing = false
    /// Whether the events before a violation are kept. It takes half of the time of a run.
    var keepsHistory = false
    /// Whether faults happen.
    var hasFaults = true
    /// Whether there are also faults of the machine, of the disk and of single nodes of the broker.
    var hasAllFaults = false
    /// Whether tags also lose the answer to a command, and refuse the next one.
    var losesAnswers = false
    /// Whether commands of every kind are sent, whose effects nothing judges.
    var sendsEveryCommand = false
    /// Whether a short run is played and printed that real programs can play, too.
    var isScheduled = false
    /// Whether all bridges run on one host, with one adapter.
    var sharesAdapter = false
    /// The mean time between two gestures of a tag.
    var gestureInterval = Duration.seconds(15)
    /// The mean time between two commands.
    var commandInterval = Duration.seconds(8)
    /// The mean time between two faults.
    var faultInterval = Duration.seconds(60)
    var logLevel = "info"

    static let usage = """
        usage: simulate [--seed N] [--minutes N] [--days N] [--bridges N] [--tags N] [--no-faults | --all-faults]
                        [--lost-answers] [--every-command] [--shared-adapter] [--schedule] [--trace] [--history]
                        [--log-level LEVEL]
          --minutes N   so much simulated time, with as many events as possible (default: 30)
          --days N      so many days with 200 gestures of each tag and 240 commands
          --all-faults  with faults of the machine, of the disk and of single nodes of the broker, too
          --lost-answers
                        with tags that lose the answer to a command, and refuse the next one, too
          --every-command
                        also sends commands of every kind, right and wrong, and judges nothing: for recorded runs
          --shared-adapter
                        runs all bridges on one host, with one adapter
          --schedule    plays a short run, and prints it so that real programs can play it, too
          --history     keeps the latest events from the start: by default a run that violates something is repeated
        """

    /// Reads the arguments after the program's name; nil if they are wrong.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--trace": isTracing = true
            case "--history": keepsHistory = true
            case "--no-faults": hasFaults = false
            case "--all-faults": hasAllFaults = true
            case "--lost-answers": losesAnswers = true
            case "--every-command": sendsEveryCommand = true
            case "--shared-adapter": sharesAdapter = true
            case "--schedule": (isScheduled, keepsHistory, duration) = (true, true, Schedule.duration)
            default:
                guard let value = rest.popFirst(), take(option, value) else { return nil }
            }
        }
        guard (1...5).contains(bridges), (1...99).contains(tags), duration > .zero else { return nil }
    }

    private mutating func take(_ option: String, _ value: String) -> Bool {
        if option == "--log-level" {
            logLevel = value
            return true
        }
        guard let number = UInt64(value), number < UInt64(Int64.max) else { return false }
        switch option {
        case "--seed": seed = number
        case "--minutes": duration = .seconds(Int64(min(number, 1 << 32)) * 60)
        case "--days":
            duration = .seconds(Int64(min(number, 1 << 24)) * 86_400)
            gestureInterval = .seconds(432)
            commandInterval = .seconds(360)
        case "--bridges": bridges = Int(number)
        case "--tags": tags = Int(number)
        default: return false
        }
        return true
    }
}
