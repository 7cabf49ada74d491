import JacquardProtocol
import Testing

@Suite("Connecting")
struct ConnectingTests {
    @Test("proceeds from the link to hello, begin, device information and configuration, in the SDK's steps")
    func steps() {
        var tag = SessionFixture()
        #expect(tag.on(.connect(.always)) == [.connection(.preparingToConnect), .connect])
        #expect(tag.on(.linkUp) == [.connection(.connecting(step: 0)), .discover])
        #expect(
            tag.on(.discovered([.write, .writeWithoutResponse])) == [
                .connection(.connecting(step: 1)), .connection(.connecting(step: 2)),
                .subscribe(.response), .subscribe(.notify), .subscribe(.rawData),
            ])
        #expect(tag.on(.subscribed) == [.connection(.connecting(step: 3))])
        #expect(tag.on(.subscribed) == [.connection(.connecting(step: 4))])
        #expect(
            tag.on(.subscribed) == [
                .connection(.initializing(step: 5)), .connection(.initializing(step: 6)), .request(.hello(), id: 1),
            ])
        #expect(tag.on(.written) == [])
        #expect(tag.answer(SampleTag.hello) == [.connection(.initializing(step: 7)), .request(.begin(), id: 2)])
        #expect(tag.on(.written) == [])
        #expect(
            tag.answer(SampleTag.begin) == [
                .connection(.initializing(step: 8)), .request(.deviceInformationOfTag(), id: 3),
            ])
        #expect(tag.on(.written) == [])
        #expect(
            tag.answer(.deviceInfo(SampleTag.information)) == [
                .connection(.initializing(step: 9)), .emit(.information(SampleTag.information.tagComponent)),
                .connection(.configuring(step: 10)), .request(.notificationQueueDepth(14), id: 4, withResponse: false),
            ])
        #expect(!tag.session.isConnected)
        #expect(tag.on(.written) == [])
        #expect(tag.answer(SampleTag.configuration) == [.connection(.connected)])
        #expect(tag.session.isConnected)
    }

    @Test("repeats hello without response where writing with response is not permitted; later steps are one higher")
    func fallback() {
        var tag = SessionFixture(in: .hello)
        #expect(
            tag.on(.writeFailed(SampleTag.linkError, isNotPermitted: true)) == [
                .connection(.initializing(step: 7)), .request(.hello(), id: 2, withResponse: false),
            ])
        #expect(tag.on(.written) == [])
        #expect(
            tag.answer(SampleTag.hello) == [
                .connection(.initializing(step: 8)), .request(.begin(), id: 3, withResponse: false),
            ])
        #expect(tag.on(.written) == [])
        #expect(
            tag.answer(SampleTag.begin) == [
                .connection(.initializing(step: 9)), .request(.deviceInformationOfTag(), id: 4, withResponse: false),
            ])
        #expect(tag.on(.written) == [])
        #expect(
            tag.answer(.deviceInfo(SampleTag.information)) == [
                .connection(.initializing(step: 10)), .emit(.information(SampleTag.information.tagComponent)),
                .connection(.configuring(step: 11)), .request(.notificationQueueDepth(14), id: 5, withResponse: false),
            ])
        #expect(tag.on(.written) == [])
        #expect(tag.answer() == [.connection(.connected)])
    }

    @Test("fails if writing without response is not permitted either")
    func secondRefusal() {
        var tag = SessionFixture(in: .hello)
        _ = tag.on(.writeFailed(SampleTag.linkError, isNotPermitted: true))
        #expect(
            tag.on(.writeFailed(SampleTag.linkError, isNotPermitted: true)) == [
                .connection(.preparingToConnect, attempt: 2, SampleTag.linkError), .disconnect,
            ])
    }

    @Test("does not return to hello if the configuration may not be written")
    func refusedConfiguration() {
        var tag = SessionFixture()
        _ = tag.on(.connect(.always))
        _ = tag.on(.linkUp)
        _ = tag.on(.discovered(.write))
        for _ in 1...3 { _ = tag.on(.subscribed) }
        for body in [SampleTag.hello, SampleTag.begin, .deviceInfo(SampleTag.information)] {
            _ = tag.confirmAndAnswer(body)
        }
        #expect(tag.lastRequest == .notificationQueueDepth(14))
        #expect(tag.on(.writeFailed(SampleTag.linkError, isNotPermitted: true)).last == .disconnect)
    }

    @Test(
        "writes hello as the characteristic permits, with response if it can",
        arguments: [([.write], true), ([.writeWithoutResponse], false), ([.write, .writeWithoutResponse], true)]
            as [(TagSession.Properties, Bool)])
    func properties(properties: TagSession.Properties, withResponse: Bool) {
        var tag = SessionFixture(in: .discovering)
        _ = tag.on(.discovered(properties))
        let actions = [tag.on(.subscribed), tag.on(.subscribed), tag.on(.subscribed)].joined()
        #expect(actions.last == .request(.hello(), id: 1, withResponse: withResponse))
    }

    @Test("numbers requests from 0 on each link")
    func newLink() {
        var tag = SessionFixture(in: .connected)
        _ = tag.on(.linkDown(SampleTag.linkError))
        _ = tag.after(.seconds(1))
        _ = tag.on(.linkUp)
        _ = tag.on(.discovered(.write))
        for _ in 1...3 { _ = tag.on(.subscribed) }
        #expect(tag.lastID == 1)
        #expect(tag.lastRequest == .hello())
    }

    @Test("uses a link that comes up between two attempts, and drops one that was not requested")
    func lateLink() {
        var waiting = SessionFixture(in: .waiting)
        #expect(waiting.on(.linkUp) == [.connection(.connecting(step: 0), attempt: 2), .discover])
        var stopped = SessionFixture(in: .stopped)
        #expect(stopped.on(.linkUp) == [.disconnect])
        #expect(stopped.on(.linkDown(nil)) == [])
    }
}
