import JacquardProtocol
import Testing

@Suite("Bonding")
struct BondingTests {
    @Test("comes before anything else on the link, where it is wanted")
    func order() {
        var tag = SessionFixture()
        #expect(tag.on(.pair) == [.tell(.preparingToConnect), .connect])
        #expect(tag.on(.linkUp) == [.tell(.connecting(step: 0)), .bond])
        #expect(tag.on(.bonded) == [.discover])
    }

    @Test("is not wanted again once there is a bond")
    func once() {
        var tag = SessionFixture(in: .bonding)
        _ = tag.on(.bonded)
        _ = tag.on(.linkDown(SampleTag.linkError))
        tag.pass(.seconds(60))
        _ = tag.on(.deadline)
        #expect(tag.on(.linkUp).last == .discover)
    }

    @Test("that is refused is tried again on the next link")
    func refused() {
        var tag = SessionFixture(in: .bonding)
        #expect(tag.on(.bondingFailed(SampleTag.linkError)).last == .disconnect)
        _ = tag.on(.linkDown(nil))
        tag.pass(.seconds(60))
        _ = tag.on(.deadline)
        #expect(tag.on(.linkUp).last == .bond)
    }

    @Test("takes no longer than the attempt that it belongs to")
    func deadline() {
        var tag = SessionFixture(in: .bonding)
        tag.pass(.seconds(60))
        #expect(tag.on(.deadline).last == .disconnect)
    }

    @Test("told where none is wanted changes nothing", arguments: SessionPhase.allCases.filter { $0 != .bonding })
    func unasked(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        #expect(tag.on(.bonded) == [])
        #expect(tag.on(.bondingFailed(SampleTag.linkError)) == [])
    }
}
