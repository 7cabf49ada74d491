import Foundation
import TestSupport

extension World {
    /// Replaces the configuration by that of another plan, and waits until the daemon has looked at it.
    func reload(_ plan: WorldPlan) async throws {
        try await reload(plan.configuration(port: broker.port))
    }

    /// Replaces the configuration by a text, and waits until the daemon has looked at it.
    func reload(_ text: String) async throws {
        _ = try folder.write("config.yaml", text)
        let before = verdicts
        daemon.signal(SIGHUP)
        try await until("the daemon has read its configuration again") { verdicts > before }
    }

    /// How often the daemon has said what it makes of its configuration.
    private var verdicts: Int {
        daemon.printed.matches(of: /the configuration was read again|the configuration is not taken/).count
    }
}
