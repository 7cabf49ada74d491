import JacquardProtocol
import Testing

@Suite("Wishes of the user")
struct WishesTests {
    @Test("disconnecting drops the link and is final", arguments: SessionPhase.attempts + SessionPhase.online)
    func disconnect(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        let actions = tag.on(.disconnect)
        #expect(actions.last == .disconnect)
        #expect(actions.connections == [])
        #expect(!tag.session.isConnected)
        let attempt = tag.on(.linkDown(nil))
        #expect(attempt == [.tell(.disconnected)])
        #expect(tag.session.deadline == nil)
    }

    @Test("disconnecting between two attempts needs no link")
    func disconnectWaiting() {
        var tag = SessionFixture(in: .waiting)
        #expect(tag.on(.disconnect) == [.tell(.disconnected, attempt: 2)])
    }

    @Test("disconnecting while the link goes down is final when it is", arguments: [SessionPhase.closing, .restarting])
    func disconnectClosing(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        #expect(tag.on(.disconnect) == [])
        #expect(tag.on(.linkDown(nil)).connections.map(\.state) == [.disconnected])
    }

    @Test("disconnecting twice is as once", arguments: [SessionPhase.stopped, .stopping])
    func disconnectAgain(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        #expect(tag.on(.disconnect) == [])
    }

    @Test("connecting what is wanted already does nothing")
    func connectAgain() {
        let wanted = SessionPhase.attempts + SessionPhase.online + [.closing, .restarting, .waiting]
        for phase in wanted {
            var tag = SessionFixture(in: phase)
            let deadline = tag.session.deadline
            #expect(tag.on(.connect) == [])
            #expect(tag.session.deadline == deadline)
        }
    }

    @Test("connecting while the link goes down begins anew, without an error or a pause")
    func restart() {
        var tag = SessionFixture(in: .stopping)
        #expect(tag.on(.connect) == [])
        #expect(tag.on(.linkDown(SampleTag.linkError)) == [.tell(.preparingToConnect), .connect])
    }

    @Test("connecting after a final error begins anew")
    func connectAfterError() {
        var tag = SessionFixture(in: .waiting)
        _ = tag.on(.poweredOff)
        #expect(tag.on(.connect) == [.tell(.preparingToConnect), .connect])
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
}
