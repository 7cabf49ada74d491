import Foundation
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Two bridges that know one tag")
struct SharedTagTests {
    /// The number of orders of each part. Set `SHARED_TAG_ORDERS` for more.
    private static let count = ProcessInfo.processInfo.environment["SHARED_TAG_ORDERS"].flatMap(Int.init) ?? 60

    @Test("leave true facts at the broker, in whatever order things happen and messages arrive", arguments: 0..<16)
    func everyOrder(part: Int) {
        for seed in UInt64(part * Self.count)..<UInt64((part + 1) * Self.count) {
            var model = SharedTagModel(seed: seed)
            model.run(actions: 12)
            guard model.faults.isEmpty else {
                Issue.record("seed \(seed): \(model.faults)\n\(model.story.joined(separator: "\n"))")
                return
            }
        }
    }
}
