import EventLoop
import Foundation
import MQTTTypes
import TestSupport

/// Replays what the bridge has recorded, after the troubles.
extension Soak {
    /// The base topic of the replay.
    static let replayBase = "shadow"

    /// Publishes the record of the bridge, which has ended, and compares it with what was received.
    func compareReplay() async throws {
        var output: [String] = []
        let replay = try stage.startReplay(to: Self.replayBase) { output.append($0) }
        try await until("the end of the replay", within: .seconds(300)) { !replay.isRunning }
        if replay.exitStatus != 0 { violated("the replay has failed: \(output.joined(separator: " "))") }
        // The reader receives it through the same broker, later.
        let last = "\(Self.replayBase)/end"
        reader.publish(MQTTMessage(topic: last, payload: [], qos: .atLeastOnce), number: 0)
        try await until("the end of the replay at the reader", within: .seconds(300)) { isReplayReceived }
        record.compare(troubles, unrecorded: stage.unrecorded).prefix(20).forEach(violated)
    }

    /// Takes a message below the base topic of the replay.
    func receivedFromReplay(_ levels: [String], _ message: MQTTMessage) {
        guard levels.count > 3, levels[1] == "tag" else {
            isReplayReceived = levels.last == "end"
            return
        }
        let topic = levels[1...].joined(separator: "/")
        let made = RecordLedger.isEvent(topic) ? decoded(TimeDocument.self, message.payload)?.time : nil
        let age = made.flatMap(Self.date).map { Date().timeIntervalSince($0) }
        record.replayed(topic, message.payload, made: age.map { .now - .seconds($0) })
    }
}
