import JacquardProtocol
import Testing

@Suite("Bonding")
struct BondingTests {
    @Test("is the first operation on the link if it is requested")
    func order() {
        var tag = SessionFixture()
        #expect(tag.on(.pair) == [.connection(.preparingToConnect), .connect])
        #expect(tag.on(.linkUp) == [.connection(.connecting(step: 0)), .bond])
        #expect(tag.on(.bonded) == [.discover])
    }

    @Test("is not repeated once there is a bond")
    func once() {
        var tag = SessionFixture(in: .bonding)
        _ = tag.on(.bonded)
        _ = tag.on(.linkDown(SampleTag.linkError))
        tag.pass(.seconds(60))
        _ = tag.on(.deadline)
        #expect(tag.on(.linkUp).last == .discover)
    }

    @Test("that is refused is retried on the next link")
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

    @Test("that was not requested changes nothing", arguments: SessionPhase.allCases.filter { $0 != .bonding })
    func unasked(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        #expect(tag.on(.bonded) == [])
        #expect(tag.on(.bondingFailed(SampleTag.linkError)) == [])
    }
}
