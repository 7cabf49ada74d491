import EventLoop
import TestSupport
import Testing

/// Runs a test in a world of its own, and prints the daemon's log when the test fails.
func inWorld(
    tags: Int = 1, options: [String] = [], settings: String = "",
    _ body: @LoopActor @Sendable (World) async throws -> Void
) async throws {
    try await inWorld(WorldPlan(tags: tags, options: options, settings: settings), body)
}

/// Runs a test in a world of its own, and prints the daemon's log when the test fails.
func inWorld(_ plan: WorldPlan, _ body: @LoopActor @Sendable (World) async throws -> Void) async throws {
    try await onLoop {
        let world = try await World(plan)
        do {
            try await body(world)
        } catch {
            Issue.record(
                "\(error)\n\(world.observer.facts)\n\(world.daemon.printed.suffix(4000))\n\(world.simulator.printed.suffix(2000))"
            )
        }
        await world.end()
    }
}
