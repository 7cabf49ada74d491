import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("A connection to the broker that is made for the last facts")
struct LastConnectionTests {
    @Test("withholds the facts of a tag that another bridge may have, and of no other", arguments: [true, false])
    func withheld(isHere: Bool) {
        let pair = BridgePair()
        pair.connectTag(isHere ? pair.attic : pair.cellar)
        pair.wait(.seconds(5))
        pair.cut(pair.attic)
        pair.stop(pair.attic)
        let withheld = pair.attic.state.handle(.brokerConnected, at: pair.now).flatMap { action in
            if case .withhold(let topics) = action { topics } else { [] as [String] }
        }
        #expect(withheld.contains("jacquard/tag/003R/availability") == !isHere)
        #expect(!withheld.contains("jacquard/bridge/attic/state"))
    }

    @Test("publishes everything of a bridge that is alone")
    func alone() {
        let scene = Scene.connected()
        scene.handle(.stopping)
        #expect(scene.state.handle(.brokerConnected, at: scene.now) == [])
    }
}
