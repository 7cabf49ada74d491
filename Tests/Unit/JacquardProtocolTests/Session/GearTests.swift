import JacquardProtocol
import Testing

@Suite("Gear")
struct GearTests {
    private static let patch = SampleTag.component()
    private static let wholePatch = SampleTag.component(isComplete: true)
    private let touchMode = Response.Body.dataChannel(DataChannelResponse(.gesture))

    @Test("is reported immediately, then set to gestures, then queried")
    func attach() {
        var tag = SessionFixture(in: .connected)
        #expect(
            tag.notify(.attached(SampleTag.gear())) == [
                .emit(.gear(Self.patch)),
                .request(.touchMode(.gesture, component: 101), id: 5, withResponse: false),
            ])
        #expect(tag.on(.written) == [])
        #expect(
            tag.answer(touchMode) == [
                .emit(.touchMode(.gesture)), .request(.notificationQueueDepth(14), id: 6, withResponse: false),
            ])
        #expect(tag.on(.written) == [])
        #expect(tag.answer() == [.request(.deviceInformation(ofGear: 101), id: 7, withResponse: false)])
        #expect(tag.on(.written) == [])
        #expect(tag.answer(.deviceInfo(SampleTag.gearInformation)) == [.emit(.gear(Self.wholePatch))])
        #expect(tag.isIdle)
    }

    @Test("is set up if the catalogue does not contain it")
    func unknown() {
        var tag = SessionFixture(in: .connected)
        _ = tag.notify(.attached(SampleTag.unknownGear))
        #expect(tag.lastRequest == .touchMode(.gesture, component: 101))
    }

    @Test("is reported again with names and capabilities of a changed catalogue")
    func otherCatalogue() throws {
        var tag = SessionFixture(in: .connected)
        _ = tag.notify(.attached(SampleTag.unknownGear))
        let refused = tag.on(.command(.playHaptic(.stop), token: 1))
        #expect(refused == [.end(1, .componentDoesNotSupportPlayHaptic)])
        let own = GearCatalogue.Entry(
            vendor: Component.Name(id: JacquardIdentifier(rawValue: 1), name: "Somebody"),
            product: Component.Name(id: JacquardIdentifier(rawValue: 2), name: "Bag"), capabilities: [.haptic])
        let catalogue = GearCatalogue(GearCatalogue.builtIn.entries + [own])
        let named = Component(
            componentID: 101, vendor: own.vendor, product: own.product, capabilities: own.capabilities)
        #expect(tag.session.adopt(catalogue) == [.emit(.gear(named))])
        #expect(tag.session.adopt(catalogue) == [])
        #expect(!tag.on(.command(.playHaptic(.stop), token: 2)).contains(.end(2, .componentDoesNotSupportPlayHaptic)))
        var detached = SessionFixture(in: .connected)
        #expect(detached.session.adopt(catalogue) == [])
    }

    @Test("that is reported before the tag is connected is set up when it is")
    func early() {
        for phase in [SessionPhase.subscribing] + SessionPhase.starting {
            var tag = SessionFixture(in: phase)
            #expect(tag.notify(.attached(SampleTag.gear())) == [.emit(.gear(Self.patch))])
        }
        var tag = SessionFixture(in: .configuring)
        _ = tag.notify(.attached(SampleTag.gear()))
        #expect(
            tag.confirmAndAnswer() == [
                .connection(.connected), .request(.touchMode(.gesture, component: 101), id: 5, withResponse: false),
            ])
    }

    @Test("that is not reported within 2 s is absent")
    func missing() {
        var tag = SessionFixture(in: .connected)
        #expect(tag.after(.seconds(2) - .nanoseconds(1)) == [])
        #expect(tag.after(.nanoseconds(1)) == [.emit(.gear(nil))])
        #expect(tag.isIdle)
        #expect(tag.notify(.attached(SampleTag.gear())).first == .emit(.gear(Self.patch)))
    }

    @Test(
        "is not waited for after the tag has reported that there is none",
        arguments: [SessionPhase.configuring, .connected])
    func toldNone(phase: SessionPhase) {
        var tag = SessionFixture(in: phase)
        #expect(tag.notify(.attached(AttachedNotification())) == [.emit(.gear(nil))])
        if phase == .configuring { _ = tag.notify(.batteryStatus(SampleTag.battery)) + tag.confirmAndAnswer() }
        #expect(tag.session.isConnected)
        #expect(tag.isIdle)
    }

    @Test("stays without details if a step of the set-up fails", arguments: 0..<3)
    func failure(step: Int) {
        var tag = SessionFixture(in: .connected)
        _ = tag.notify(.attached(SampleTag.gear()))
        for body in [touchMode, nil].prefix(step) { _ = tag.confirmAndAnswer(body) }
        #expect(tag.confirmAndAnswer(status: .unsupported) == [])
        #expect(tag.isIdle == (step > 0), "the touch mode is requested again")
        _ = tag.on(.command(.playHaptic(.stop), token: 1))
        #expect(tag.lastRequest == .playHaptic(.stop, component: 101))
    }

    @Test("stays without details if a step after the touch mode is not answered")
    func timeout() {
        var tag = SessionFixture(in: .connected)
        _ = tag.notify(.attached(SampleTag.gear()))
        _ = tag.confirmAndAnswer(touchMode)
        _ = tag.confirm()
        #expect(tag.after(.seconds(8)) == [])
        #expect(tag.isIdle)
    }

    @Test("that is attached again is set up again, and nothing more is sent to the earlier one", arguments: 0..<3)
    func reattach(step: Int) {
        var tag = SessionFixture(in: .connected)
        _ = tag.notify(.attached(SampleTag.gear()))
        let answers = [touchMode, nil, .deviceInfo(SampleTag.gearInformation)]
        for body in answers.prefix(step) { _ = tag.confirmAndAnswer(body) }
        #expect(tag.notify(.attached(SampleTag.gear(6))) == [.emit(.gear(SampleTag.component(SampleTag.gear(6))))])
        #expect(
            tag.confirmAndAnswer(answers[step]) == [
                .request(.touchMode(.gesture, component: 6), id: UInt32(6 + step), withResponse: false)
            ])
    }

    @Test("that is attached and detached repeatedly does not accumulate requests")
    func flood() {
        var tag = SessionFixture(in: .connected)
        for number in 1...1000 { _ = tag.notify(.attached(SampleTag.gear(UInt32(number)))) }
        #expect(tag.lastRequest == .touchMode(.gesture, component: 1))
        _ = tag.confirmAndAnswer(touchMode)
        #expect(tag.lastRequest == .touchMode(.gesture, component: 1000))
        for body in [touchMode, nil, .deviceInfo(SampleTag.gearInformation)] { _ = tag.confirmAndAnswer(body) }
        #expect(tag.isIdle)
    }

    @Test("that is detached is reported immediately, and nothing more is sent to it")
    func detach() {
        var tag = SessionFixture(in: .connected)
        _ = tag.notify(.attached(SampleTag.gear()))
        #expect(tag.notify(.attached(AttachedNotification())) == [.emit(.gear(nil))])
        #expect(tag.confirmAndAnswer(touchMode) == [])
        #expect(tag.isIdle)
    }

    @Test("is separate for each link")
    func newLink() {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.linkDown(SampleTag.linkError))
        _ = tag.after(.seconds(1))
        tag.connect()
        #expect(tag.on(.command(.playHaptic(.stop), token: 1)) == [])
        #expect(tag.after(.seconds(2)).contains(.end(1, .gearNotAttached)))
    }
}
