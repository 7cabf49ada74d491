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
        _exit(isGood ? 0 : 1)
    }

    private static func play(_ options: SimulationOptions, _ time: VirtualTime, _ folder: String) -> Bool {
        let result = Outcome()
        EventLoop.shared.begin {
            let world = World(options, time, folder: folder)
            result.world = world
            world.begin()
        }
        EventLoop.shared.run(in: time)
        return LoopActor.assumeIsolated(result) { $0.world?.report() ?? false }
    }
}

/// The world of a run.
@LoopActor
private final class Outcome {
    nonisolated init() {}
    var world: World?
}
