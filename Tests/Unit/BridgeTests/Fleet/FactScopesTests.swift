import JacquardProtocol
import Testing
import Time

@testable import Bridge

/// The decisions which of two bridges publishes a tag, as values.
@Suite("The facts that a bridge publishes of each tag")
struct FactScopesTests {
    private let tag = TagID.tag003R
    private let start = Instant(sinceBoot: .seconds(100))

    /// Returns whether the scope has changed.
    private func decide(
        _ scopes: inout FactScopes, isConnected: Bool = false, isClaimed: Bool = false, isListed: Bool = true
    ) -> Bool {
        scopes.decide(tag, isConnected: isConnected, isClaimed: isClaimed, isListed: isListed, at: start)
    }

    /// Decides after a connection to the broker whose retained messages name another bridge.
    private func scopeAfterConnection(_ scopes: inout FactScopes, isListed: Bool = true) -> FactScopes.Scope? {
        scopes.brokerConnected(unconnected: [tag], at: start)
        scopes.isAuthoredElsewhere(tag)
        let isDecidedEarly = decide(&scopes, isListed: isListed)
        #expect(!isDecidedEarly && scopes[tag] == .undecided)
        let hasEnded = scopes.endCollection()
        #expect(hasEnded)
        _ = decide(&scopes, isListed: isListed)
        return scopes[tag]
    }

    @Test("are those of its connection only, if another bridge has published the tag last and still lists it")
    func publishedElsewhere() {
        var scopes = FactScopes()
        let (listed, unlisted) = (scopeAfterConnection(&scopes), scopeAfterConnection(&scopes, isListed: false))
        #expect(listed == .presence && unlisted == nil)
    }

    @Test("are all of a tag that was connected here last, until it is connected elsewhere or forgotten")
    func connectedHere() {
        var scopes = FactScopes()
        _ = decide(&scopes, isConnected: true)
        let here = scopeAfterConnection(&scopes)
        #expect(here == nil)
        let isChanged = decide(&scopes, isClaimed: true)
        #expect(isChanged && scopes[tag] == .elsewhere)
        let elsewhere = scopeAfterConnection(&scopes)
        #expect(elsewhere == .presence)
        _ = decide(&scopes, isConnected: true)
        scopes.remove(tag)
        let forgotten = scopeAfterConnection(&scopes)
        #expect(forgotten == .presence)
    }

    @Test("leave a tag that is connected elsewhere, whose bridge has 1.2 s for a proof, once")
    func proof() {
        var scopes = FactScopes()
        _ = decide(&scopes, isClaimed: true)
        #expect(scopes.deadline == start + .milliseconds(1_200))
        let taken = [1_199, 1_200, 1_200].map { scopes.takeProofDue(at: start + .milliseconds($0)) }
        #expect(taken == [false, true, false])
        _ = decide(&scopes)
        #expect(scopes[tag] == .presence)
        _ = decide(&scopes, isListed: false)
        #expect(scopes[tag] == nil)
    }

    @Test("wait 750 ms for the end of the retained messages, once")
    func patience() {
        var scopes = FactScopes()
        scopes.brokerConnected(unconnected: [tag], at: start)
        #expect(scopes.deadline == start + .milliseconds(750))
        #expect([749, 750].map { scopes.mayBeStored(at: start + .milliseconds($0)) } == [true, false])
        let ended = [749, 750, 751].map { scopes.endCollection(dueAt: start + .milliseconds($0)) }
        #expect(ended == [false, true, false])
        scopes.isAuthoredElsewhere(tag)
        _ = decide(&scopes)
        #expect(scopes[tag] == nil, "an info that comes later is no retained one")
    }
}
