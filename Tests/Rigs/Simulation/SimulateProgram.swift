import EventLoop
import Glibc

/// `simulate`: bridges, tags and a broker in virtual time.
@main
enum SimulateProgram {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let options = SimulationOptions(arguments) else {
            print(SimulationOptions.usage)
            exit(2)
        }
        guard let folder = getenv(Enclosure.variable) else {
            exit(Enclosure(seed: options.seed)?.play(arguments) ?? 1)
        }
        // Paths are relative, because they are part of log lines.
        guard chdir(folder) == 0 else {
            Enclosure.complain("seed \(options.seed): \(String(cString: folder)): \(String(cString: strerror(errno)))")
            exit(1)
        }
        let isGood = play(options, VirtualTime(seed: options.seed))
        fflush(nil)
        _exit(isGood.map { $0 ? 0 : 1 } ?? Enclosure.repeats)
    }

    /// Plays once.
    ///
    /// - Returns: whether nothing was violated; nil if the run has to be repeated with its history.
    private static func play(_ options: SimulationOptions, _ time: VirtualTime) -> Bool? {
        let result = Outcome()
        EventLoop.shared.begin {
            let world = World(options, time, folder: ".")
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
