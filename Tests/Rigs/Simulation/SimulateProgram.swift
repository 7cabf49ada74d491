import EventLoop
import FoundationEssentials
import Glibc

/// `simulate`: bridges, tags and a broker in virtual time.
@main
enum SimulateProgram {
    static func main() {
        // Equal seeds give equal runs only if sets and dictionaries have equal orders.
        if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            let words = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", words)
        }
        guard let options = SimulationOptions(Array(CommandLine.arguments.dropFirst())) else {
            print(SimulationOptions.usage)
            exit(2)
        }
        let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        let folder = "\(base)/simulate-\(getpid())"
        // Paths are relative, because they are part of log lines.
        guard mkdir(folder, 0o700) == 0, chdir(folder) == 0 else { exit(1) }
        let isGood = play(options, VirtualTime(seed: options.seed), ".")
        fflush(nil)
        try? FileManager.default.removeItem(atPath: folder)
        if let isGood { _exit(isGood ? 0 : 1) }
        execv("/proc/self/exe", (CommandLine.arguments + ["--history"]).map { strdup($0) } + [nil])
    }

    /// Plays once.
    ///
    /// - Returns: whether nothing was violated; nil if the run has to be repeated with its history.
    private static func play(_ options: SimulationOptions, _ time: VirtualTime, _ folder: String) -> Bool? {
        let result = Outcome()
        EventLoop.shared.begin {
            let world = World(options, time, folder: folder)
            result.world = world
            world.begin()
        }
        EventLoop.shared.run(in: time)
        return LoopActor.assumeIsolated(result) { result in
            guard let world = result.world else { return false }
            return world.needsHistory ? nil : world.report()
        }
    }
}

/// The world of a run.
@LoopActor
private final class Outcome {
    nonisolated init() {}
    var world: World?
}
