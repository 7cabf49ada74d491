import EventLoop
import Foundation
import MQTTTypes
import TestSupport

extension World {
    /// Waits until all is well again after a fault, and prints how long that took. It depends on the machine, so no test has
    /// it as a limit.
    ///
    /// - Parameters:
    ///   - fault: what has just ended, for the line `recovered: FAULT: SECONDS s`.
    ///   - limit: when a test has failed.
    ///   - isWell: the state that a user expects.
    /// - Throws: ``Overdue`` at the limit.
    func recovers(
        from fault: String, within limit: Duration = .seconds(40), _ isWell: @LoopActor () throws -> Bool
    ) async throws {
        let end = ContinuousClock.now
        try await until("all is well after: \(fault)", within: limit, isWell)
        let hundredths = Int((ContinuousClock.now - end) / .milliseconds(10))
        let rest = hundredths % 100
        let line = "recovered: \(fault): \(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s\n"
        // In one piece, for other tests print meanwhile.
        FileHandle.standardError.write(Data(line.utf8))
    }

    /// Waits until a tag that was away is connected on a new link and its gear is known, and prints how long that took; see
    /// ``recovers(from:within:_:)``.
    func tagReturns(_ tag: String = "0001", after fault: String, within limit: Duration = .seconds(40)) async throws {
        try await recovers(from: fault, within: limit) { hasReturned(tag) }
    }

    /// Whether the bridge has said that a tag is not connected, and since then that it is, and what its gear is.
    private func hasReturned(_ tag: String) -> Bool {
        let connection = "jacquard/tag/\(tag)/connection"
        let isAway: (MQTTMessage) -> Bool = {
            let text = String(decoding: $0.payload, as: UTF8.self)
            return $0.topic == connection && Observer.object(text)["state"] as? String != "connected"
        }
        guard isConnected(tag), let away = observer.messages.lastIndex(where: isAway) else { return false }
        return observer.messages[away...].contains { $0.topic == "jacquard/tag/\(tag)/gear" }
            && observer.document("jacquard/tag/\(tag)/gear")["firmware"] is String
    }

    /// Waits until the bridge has noticed that a tag has gone.
    func tagIsMissed(_ tag: String = "0001", within limit: Duration = .seconds(20)) async throws {
        try await until("\(tag) is offline", within: limit) {
            observer.latest("jacquard/tag/\(tag)/availability") == "offline"
        }
    }

    /// How often the first tag was published as offline.
    var misses: Int { observer.payloads(of: "jacquard/tag/0001/availability").count { $0 == "offline" } }

    /// A gesture comes through, and a command is carried out.
    func isOfUse(_ tag: String = "0001") async throws {
        let topic = "jacquard/tag/\(tag)/gesture"
        let count = observer.payloads(of: topic).count
        try await simulate("gesture \(tag) cover")
        try await until("a gesture") { observer.payloads(of: topic).count > count }
        try await succeeds("jacquard/tag/\(tag)/led/set", "flash")
    }

    /// The latest error of a tag's connection. The next attempt replaces it on the topic, which a busy machine may see too late.
    func connectionError(_ tag: String = "0001") -> [String: Any] {
        results("jacquard/tag/\(tag)/connection").compactMap { $0["error"] as? [String: Any] }.last ?? [:]
    }
}
