import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("A flood of commands")
struct FloodTests {
    @Test("gets exactly one final result for each of ten thousand commands")
    func results() async throws {
        let count = 10_000
        try await inWorld(tags: 2) { world in
            try await world.connected(1...2)
            world.observer.forget()
            for number in 0..<count {
                let tag = World.serial(1 + number % 2)
                let payload = ##"{"id":"\##(number)","color":"#00ff00","duration_ms":20}"##
                try await world.observer.insist(
                    MQTTMessage(topic: "jacquard/tag/\(tag)/led/set", payload: Array(payload.utf8), qos: .atLeastOnce))
            }
            var seen: [String: Int] = [:]
            var next = 0
            try await until("the results", within: .seconds(180)) {
                while next < world.observer.messages.count {
                    let message = world.observer.messages[next]
                    next += 1
                    guard message.topic.hasSuffix("/led/result") else { continue }
                    let result = Observer.object(String(decoding: message.payload, as: UTF8.self))
                    guard result["final"] as? Bool == true, let id = result["id"] as? String else { continue }
                    seen[id, default: 0] += 1
                }
                return seen.count == count
            }
            // The answer to a request comes behind all results: none of them comes twice.
            let health = try await world.succeeds("\(World.bridge)/request/health")
            #expect(seen.values.allSatisfy { $0 == 1 })
            #expect(health["dropped"] as? Int == 0, "\(health)")
            #expect(health["broker_reconnects"] as? Int == 0)
            #expect(try #require(health["rss_kb"] as? Int) < 100_000, "\(health)")
            world.observer.forget()
            try await world.isOfUse()
        }
    }
}
