import EventLoop
import Glibc

/// `soak`: the daemon under random troubles, and a checker that knows what must have arrived.
@main
enum SoakProgram {
    static func main() {
        guard let options = SoakOptions(Array(CommandLine.arguments.dropFirst())) else {
            print(SoakOptions.usage)
            exit(2)
        }
        // A closed pipe is detected by the return value of write.
        signal(SIGPIPE, SIG_IGN)
        EventLoop.shared.begin { exit(await run(options)) }
        EventLoop.shared.run()
    }

    @LoopActor
    private static func run(_ options: SoakOptions) async -> Int32 {
        do {
            if let seconds = options.idleSeconds {
                try await Idle(options, seconds: seconds).run()
                return 0
            }
            let soak = try await Soak(options)
            let signals = [SIGINT, SIGTERM].compactMap { number in
                try? SignalSource(number) { soak.isInterrupted = true }
            }
            defer { withExtendedLifetime(signals) {} }
            return try await soak.run() ? 0 : 1
        } catch {
            print("soak: \(error)")
            return 1
        }
    }
}
