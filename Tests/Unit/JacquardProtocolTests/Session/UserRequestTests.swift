import JacquardProtocol
import Testing

@Suite("Requests of the user")
struct UserRequestTests {
    @Test("disconnecting drops the link and is final", arguments: SessionPhase.attempts + SessionPhase.online)
    func disconnect(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        let actions = tag.on(.disconnect)
        #expect(actions.last == .disconnect)
        #expect(actions.connections == [])
        #expect(!tag.session.isConnected)
        let attempt = tag.on(.linkDown(nil))
        #expect(attempt == [.connection(.disconnected)])
        #expect(tag.session.deadline == nil)
    }

    @Test("disconnecting between two attempts needs no link")
    func disconnectWaiting() {
        var tag = SessionFixture(in: .waiting)
        #expect(tag.on(.disconnect) == [.connection(.disconnected, attempt: 2)])
    }

    @Test("disconnecting while the link goes down is final when it is", arguments: [SessionPhase.closing, .restarting])
    func disconnectClosing(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        #expect(tag.on(.disconnect) == [])
        #expect(tag.on(.linkDown(nil)).connections.map(\.state) == [.disconnected])
    }

    @Test("disconnecting twice has no further effect", arguments: [SessionPhase.stopped, .stopping])
    func disconnectAgain(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        #expect(tag.on(.disconnect) == [])
    }

    @Test("connecting twice has no further effect")
    func connectAgain() {
        let wanted = SessionPhase.attempts + SessionPhase.online + [.closing, .restarting, .waiting]
        for phase in wanted {
            var tag = SessionFixture(in: phase)
            let deadline = tag.session.deadline
            #expect(tag.on(.connect(.always)) == [])
            #expect(tag.session.deadline == deadline)
        }
    }

    @Test("connecting while the link goes down reconnects, without an error or a pause")
    func restart() {
        var tag = SessionFixture(in: .stopping)
        #expect(tag.on(.connect(.always)) == [])
        #expect(tag.on(.linkDown(SampleTag.linkError)) == [.connection(.preparingToConnect), .connect])
    }

    @Test("connecting after a final error starts over")
    func connectAfterError() {
        var tag = SessionFixture(in: .waiting)
        _ = tag.on(.poweredOff)
        #expect(tag.on(.connect(.always)) == [.connection(.preparingToConnect), .connect])
    }

    @Test("Bluetooth off is final in every state", arguments: SessionPhase.allCases)
    func poweredOff(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        let actions = tag.on(.poweredOff)
        #expect(actions.connections.map(\.state) == (phase == .stopped ? [] : [.disconnected]))
        #expect(actions.connections.allSatisfy { $0.error?.code == .bluetoothPowerOff })
        #expect(tag.session.deadline == nil)
        #expect(tag.on(.linkDown(SampleTag.linkError)) == [])
    }

    @Test(
        "without `always`, the first error before pairing is final",
        arguments: ConnectionFailure.beforePairing)
    func oncePaired(failure: ConnectionFailure) {
        var tag = SessionFixture(in: failure.phase, retrying: .oncePaired)
        #expect(failure.happen(&tag).last == .disconnect)
        #expect(tag.on(.linkDown(nil)) == [.connection(.disconnected, failure.error)])
        #expect(tag.session.deadline == nil)
    }

    @Test(
        "without `always`, the first loss before pairing is final",
        arguments: [.linking, .discovering, .subscribing] as [SessionPhase])
    func oncePairedLoss(phase: SessionPhase) {
        var tag = SessionFixture(in: phase, retrying: .oncePaired)
        #expect(tag.on(.linkDown(SampleTag.linkError)) == [.connection(.disconnected, SampleTag.linkError)])
    }

    @Test("with a time limit, 60 s without the tag are final")
    func oncePairedTimeout() {
        var tag = SessionFixture(in: .linking, retrying: .oncePaired)
        #expect(tag.after(.seconds(60)) == [.disconnect])
        let error = TagConnectionError(.connectionTimeout, "no connection within 60 s")
        #expect(tag.on(.linkDown(nil)) == [.connection(.disconnected, error)])
    }

    @Test(
        "the rule becomes `always` with the third subscription",
        arguments: SessionPhase.starting + SessionPhase.online)
    func paired(phase: SessionPhase) {
        var tag = SessionFixture(in: phase == .equipped ? .connected : phase, retrying: .oncePaired)
        #expect(tag.on(.linkDown(SampleTag.linkError)).connections.map(\.state) == [.preparingToConnect])
        #expect(tag.session.deadline != nil)
    }

    @Test("of two requests the rule `always` takes precedence", arguments: TagSession.RetryRule.allCases)
    func rules(first: TagSession.RetryRule) {
        for second in TagSession.RetryRule.allCases {
            var tag = SessionFixture(in: .discovering, retrying: first)
            _ = tag.on(.connect(second))
            let isFinal = first == .oncePaired && second == .oncePaired
            #expect(
                tag.on(.linkDown(SampleTag.linkError)).connections.map(\.state)
                    == [isFinal ? .disconnected : .preparingToConnect])
        }
    }

    @Test("a new request after the end has its own rule")
    func newRule() {
        var tag = SessionFixture(in: .stopping)
        _ = tag.on(.connect(.oncePaired))
        _ = tag.on(.linkDown(nil))
        #expect(tag.on(.linkDown(SampleTag.linkError)) == [.connection(.disconnected, SampleTag.linkError)])
    }
}
