import EventLoop
import Glibc
import TestSupport

/// The bridge while nothing happens: how often it wakes up, what that costs, and what is said on the bus meanwhile.
@LoopActor
final class Idle {
    private let options: SoakOptions
    private let seconds: Int
    private let stage: Stage
    private var subscriptions = 0
    private var busMessages = 0

    /// How long the bridge has to settle after the last tag was connected: gear is reported, discovery ends, facts are
    /// published.
    private static let settling = Duration.seconds(10)

    /// Starts the broker and the simulator.
    init(_ options: SoakOptions, seconds: Int) async throws {
        self.options = options
        self.seconds = seconds
        stage = try await Stage(options)
        stage.onSimulatorLine = { [unowned self] in if $0.event == "subscribed" { subscriptions += 1 } }
    }

    /// Connects all tags, lets the time pass, and prints one line.
    func run() async throws {
        // The default of the configuration; the soak's own is the shortest.
        try stage.startDaemon(keepAliveSeconds: 30)
        guard let daemon = stage.daemon?.identifier else { return }
        let wanted = options.tags * 3
        try await until("all tags are connected", within: .seconds(60)) { subscriptions >= wanted }
        try await pass(Self.settling)
        let monitor = try ChildProcess("/usr/bin/dbus-monitor", ["--profile", "--address", stage.busAddress ?? ""]) {
            [unowned self] in if Self.isMessage($0) { busMessages += 1 }
        }
        // What the monitor says to begin with is its own.
        try await pass(.seconds(1))
        busMessages = 0
        let before = ThreadFigures(of: daemon)
        try await pass(.seconds(seconds))
        let after = ThreadFigures(of: daemon)
        print(report(before, after))
        fflush(nil)
        monitor.signal(SIGTERM)
        await stage.end()
    }

    private func report(_ before: ThreadFigures, _ after: ThreadFigures) -> String {
        """
        idle: \(options.tags) tags connected, \(seconds) s: \(after.wakeUps - before.wakeUps) wake-ups of \
        \(after.threads) threads, \((after.processorNanoseconds - before.processorNanoseconds) / 1000) µs CPU, \
        \(busMessages) D-Bus messages
        """
    }

    /// Lines of `dbus-monitor --profile` begin with the type of the message, and a tab.
    private static func isMessage(_ line: String) -> Bool {
        ["sig\t", "mc\t", "mr\t", "err\t"].contains { line.hasPrefix($0) }
    }

    private func pass(_ time: Duration) async throws {
        let end = ContinuousClock.now + time
        try await until("the time is over", within: time * 2) { .now >= end }
    }
}

/// The sum of the kernel's figures for all threads of a process.
private struct ThreadFigures {
    /// How many there are.
    var threads = 0
    /// How often one has waited and gone on (proc(5), `voluntary_ctxt_switches`).
    var wakeUps = 0
    /// Time on the processor, in nanoseconds (the kernel's scheduler/sched-stats, first number).
    var processorNanoseconds = 0

    init(of process: pid_t) {
        guard let folder = opendir("/proc/\(process)/task") else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard Int(name) != nil else { continue }
            threads += 1
            let path = "/proc/\(process)/task/\(name)/"
            let label = "voluntary_ctxt_switches:"
            let lines = Self.text(of: path + "status").split(separator: "\n").filter { $0.hasPrefix(label) }
            wakeUps += lines.first.flatMap { Int($0.dropFirst(label.count).drop { $0 == "\t" }) } ?? 0
            processorNanoseconds +=
                Self.text(of: path + "schedstat").split(separator: " ").first.flatMap { Int($0) } ?? 0
        }
    }

    private static func text(of path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
