import JacquardProtocol
import Testing
import Time

@Suite("Battery of a connected tag")
struct SessionBatteryTests {
    private static let battery = BatteryStatus(level: 50, isCharging: true)

    /// A connected tag that has not announced its battery.
    private func silentTag() -> SessionFixture {
        var tag = SessionFixture(in: .configuring)
        _ = tag.confirmAndAnswer(SampleTag.configuration)
        _ = tag.notify(.attached(AttachedNotification()))
        return tag
    }

    @Test("is requested if the tag has not announced it 2 s after it was connected")
    func notAnnounced() {
        var tag = silentTag()
        #expect(tag.after(.seconds(2) - .nanoseconds(1)) == [])
        #expect(tag.after(.nanoseconds(1)) == [.request(.batteryStatus(), id: 5, withResponse: false)])
        #expect(
            tag.confirmAndAnswer(.batteryStatus(BatteryStatusReport(Self.battery))) == [.emit(.battery(Self.battery))])
    }

    @Test(
        "is not requested at once if the tag has announced it, also before it was connected", arguments: [true, false])
    func announced(isEarly: Bool) {
        var tag = SessionFixture(in: .configuring)
        if isEarly { _ = tag.notify(.batteryStatus(Self.battery)) }
        _ = tag.confirmAndAnswer(SampleTag.configuration)
        if !isEarly { _ = tag.notify(.batteryStatus(Self.battery)) }
        _ = tag.notify(.attached(AttachedNotification()))
        #expect(tag.after(.seconds(3600) - .nanoseconds(1)).writes == 0)
        #expect(tag.after(.nanoseconds(1)).writes == 1)
        #expect(tag.lastRequest == .batteryStatus())
    }

    @Test("is requested every hour, also after a request without a usable response")
    func hourly() throws {
        var tag = silentTag()
        #expect(tag.after(.seconds(2)).writes == 1)
        let replies: [(inout SessionFixture) -> Void] = [
            { _ = $0.confirmAndAnswer(.batteryStatus(BatteryStatusReport(Self.battery))) },
            { _ = $0.confirmAndAnswer(status: .unsupported) },
            { _ = $0.confirmAndAnswer() },
            { _ = $0.confirm() + $0.after(.seconds(8)) },
        ]
        for reply in replies {
            let requestedAt = tag.now
            reply(&tag)
            #expect(try tag.atDeadline().writes == 1)
            #expect(tag.now - requestedAt == .seconds(3600))
            #expect(tag.lastRequest == .batteryStatus())
        }
        #expect(tag.complaints == [])
    }

    @Test("is requested an hour after the last value, whether requested or announced")
    func afterLastValue() {
        var tag = silentTag()
        tag.pass(.seconds(1))
        _ = tag.on(.command(.batteryStatus, token: 1))
        _ = tag.confirmAndAnswer(.batteryStatus(BatteryStatusReport(Self.battery)))
        tag.pass(.seconds(1800))
        _ = tag.notify(.batteryStatus(Self.battery))
        #expect(tag.session.deadline == tag.now + .seconds(3600))
    }

    @Test("is not waited for after the end of the link")
    func linkGone() {
        var tag = silentTag()
        _ = tag.on(.disconnect)
        _ = tag.on(.linkDown(nil))
        #expect(tag.session.deadline == nil)
    }
}

@Suite("A connected tag that does not answer")
struct SilentTagTests {
    private static let silence = TagConnectionError(.bluetoothConnectionError, "the tag no longer responds")

    /// Two commands have timed out, and the probe was sent.
    private func probed() -> SessionFixture {
        var tag = SessionFixture(in: .commanding)
        _ = tag.confirm() + tag.after(.seconds(8)) + tag.confirm()
        _ = tag.on(.command(.rename("Sofa"), token: 3))
        #expect(
            tag.after(.seconds(8)) == [
                .end(2, .timeout), .request(.deviceInformationOfTag(), id: 7, withResponse: false),
            ])
        return tag
    }

    @Test("is probed after two requests without an answer, and reconnected 4 s later")
    func reconnected() throws {
        var tag = probed()
        _ = tag.confirm()
        #expect(tag.after(.seconds(4) - .nanoseconds(1)) == [])
        #expect(
            tag.after(.nanoseconds(1)) == [
                .end(3, .notConnected), .connection(.preparingToConnect, Self.silence), .disconnect,
            ])
        let connection = try #require(tag.on(.linkDown(nil)).connections.last)
        let retryAt = try #require(connection.retryAt)
        #expect(retryAt - tag.now <= .milliseconds(625))
        #expect(tag.complaints == [])
    }

    @Test("is reconnected when the probe cannot be written")
    func unwritable() {
        var tag = probed()
        #expect(
            tag.on(.writeFailed(SampleTag.linkError, isNotPermitted: false)).suffix(2) == [
                .connection(.preparingToConnect, Self.silence), .disconnect,
            ])
    }

    @Test("stays connected if the probe is answered, with whatever status", arguments: [Status.ok, .busy])
    func answered(status: Status) {
        var tag = probed()
        let actions = tag.confirmAndAnswer(.deviceInfo(SampleTag.information), status: status)
        #expect(actions == [.request(.rename("Sofa"), id: 8, withResponse: false)])
        #expect(tag.session.isConnected)
        // It takes two more to doubt it again.
        _ = tag.confirm()
        #expect(tag.after(.seconds(8)) == [.end(3, .timeout)])
    }

    @Test("stays connected if anything else arrives before the probe's deadline")
    func signOfLife() {
        var tag = probed()
        _ = tag.confirm()
        _ = tag.notify(.dataChannel(DataChannelNotification(.doubleTap), component: 101))
        #expect(tag.after(.seconds(4)) == [.request(.rename("Sofa"), id: 8, withResponse: false)])
        #expect(tag.session.isConnected)
    }

    @Test("is not probed if anything arrived between two timeouts, late responses included")
    func betweenTimeouts() {
        for characteristic in [TagCharacteristic.notify, .response] {
            var tag = SessionFixture(in: .commanding)
            _ = tag.confirm() + tag.after(.seconds(8)) + tag.confirm()
            _ = tag.on(.received([0x41, 1], on: characteristic))
            #expect(tag.after(.seconds(8)) == [.end(2, .timeout)])
        }
    }
}

@Suite("Touch mode of a connected tag")
struct SessionTouchModeTests {
    private static let gesture = Notification.dataChannel(DataChannelNotification(.doubleTap), component: 101)
    private let confirmed = Response.Body.dataChannel(DataChannelResponse(.continuous))

    private func touch() throws -> (Notification, TagSession.Action) {
        let touch = try #require(TouchData(sequence: 9, scaled: Array(0..<13)))
        return (.dataChannel(DataChannelNotification(touch), component: 101), .emit(.touch(touch)))
    }

    @Test("follows the values that gear sends if the response to the change is lost")
    func answerLost() throws {
        var tag = SessionFixture(in: .equipped)
        let (touch, event) = try touch()
        tag.pass(.seconds(60))
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        _ = tag.confirm()
        #expect(tag.after(.seconds(8)) == [.end(1, .timeout)])
        #expect(tag.notify(touch) == [.emit(.touchMode(.continuous)), event])
        #expect(tag.notify(touch) == [event])
        #expect(tag.notify(Self.gesture) == [.emit(.touchMode(.gesture)), .emit(.gesture(.doubleTap))])
        #expect(tag.notify(Self.gesture) == [.emit(.gesture(.doubleTap))])
    }

    @Test("is the new one as soon as gear has confirmed it, whatever the result of the second request")
    func secondHalfLost() {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        #expect(tag.confirmAndAnswer(confirmed).first == .emit(.touchMode(.continuous)))
        #expect(tag.confirm() + tag.after(.seconds(8)) == [.end(1, .timeout)])
    }

    /// A command that was not answered within 8 s, or not as it should have been.
    enum Unanswered: CaseIterable {
        case timeout, withoutBody, unwritten

        func happen(_ tag: inout SessionFixture) -> [TagSession.Action] {
            switch self {
            case .timeout: tag.confirm() + tag.after(.seconds(8))
            case .withoutBody: tag.confirmAndAnswer()
            case .unwritten: tag.on(.writeFailed(SampleTag.linkError, isNotPermitted: false))
            }
        }
    }

    @Test(
        "is requested again 2 s after a request without an answer, until there is one", arguments: Unanswered.allCases)
    func repeated(_ unanswered: Unanswered) {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        #expect(unanswered.happen(&tag).count == 1)
        for _ in 1...2 {
            // What it is asked meanwhile shows that it is there.
            _ = tag.notify(.batteryStatus(SampleTag.battery))
            #expect(tag.after(.seconds(2) - .nanoseconds(1)) == [])
            #expect(tag.after(.nanoseconds(1)).writes == 1)
            #expect(tag.lastRequest == .touchMode(.continuous, component: 101))
            #expect(unanswered.happen(&tag) == [])
        }
        _ = tag.after(.seconds(2))
        #expect(tag.confirmAndAnswer(confirmed).first == .emit(.touchMode(.continuous)))
        #expect(tag.lastRequest == .notificationQueueDepth(TouchMode.continuous.notificationQueueDepth))
        #expect(tag.confirmAndAnswer() == [])
        #expect(tag.isIdle)
        #expect(tag.complaints == [])
    }

    @Test("is certain again within 30 s after a change, although two of three answers are lost")
    func bound() throws {
        var tag = SessionFixture(in: .equipped)
        let begin = tag.now
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        var requests = 1
        while requests < 3 || tag.lastRequest != .touchMode(.continuous, component: 101) {
            _ = tag.confirm()
            if tag.lastRequest == .deviceInformationOfTag() {
                _ = tag.answer(.deviceInfo(SampleTag.information))
            }
            _ = try tag.atDeadline()
            if tag.lastRequest == .touchMode(.continuous, component: 101) { requests += 1 }
        }
        #expect(tag.confirmAndAnswer(confirmed).first == .emit(.touchMode(.continuous)))
        #expect(tag.now - begin < .seconds(30))
    }

    @Test("is requested again for new gear, and the set-up goes on")
    func repeatedSetUp() {
        var tag = SessionFixture(in: .connected)
        _ = tag.notify(.attached(SampleTag.gear()))
        #expect(tag.confirm() + tag.after(.seconds(8)) == [])
        #expect(
            tag.after(.seconds(2)) == [.request(.touchMode(.gesture, component: 101), id: 6, withResponse: false)])
        #expect(tag.confirmAndAnswer(.dataChannel(DataChannelResponse(.gesture))).first == .emit(.touchMode(.gesture)))
        _ = tag.confirmAndAnswer()
        #expect(tag.lastRequest == .deviceInformation(ofGear: 101))
        _ = tag.confirmAndAnswer(.deviceInfo(SampleTag.gearInformation))
        #expect(tag.isIdle)
    }

    /// Events that make the mode certain, or another request of it unnecessary.
    enum Certainty: CaseIterable {
        case value, detachment, otherGear, linkDown

        func happen(_ tag: inout SessionFixture) throws {
            switch self {
            case .value:
                let touch = try #require(TouchData(sequence: 9, scaled: Array(0..<13)))
                _ = tag.notify(.dataChannel(DataChannelNotification(touch), component: 101))
            case .detachment: _ = tag.notify(.attached(AttachedNotification()))
            case .otherGear:
                _ = tag.notify(.attached(SampleTag.gear(6)))
                _ = tag.confirmAndAnswer(.dataChannel(DataChannelResponse(.gesture)))
                _ = tag.confirmAndAnswer()
                _ = tag.confirmAndAnswer(.deviceInfo(SampleTag.gearInformation))
            case .linkDown:
                _ = tag.on(.linkDown(SampleTag.linkError))
                _ = try tag.atDeadline()
                tag.connect()
                _ = tag.notify(.attached(AttachedNotification()))
            }
        }
    }

    @Test("is not requested again once it is certain", arguments: Certainty.allCases)
    func certain(_ certainty: Certainty) throws {
        var tag = SessionFixture(in: .equipped)
        tag.pass(.seconds(60))
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        #expect(tag.confirm() + tag.after(.seconds(8)) == [.end(1, .timeout)])
        try certainty.happen(&tag)
        #expect(tag.isIdle)
        #expect(tag.complaints == [])
    }

    @Test("is requested again after a refusal, which confirms nothing, with growing pauses")
    func refusedAfterLoss() {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        _ = tag.confirm() + tag.after(.seconds(8))
        _ = tag.on(.command(.setTouchMode(.gesture), token: 2))
        let refusal = tag.confirmAndAnswer(status: Status(rawValue: 3))
        #expect(refusal == [.end(2, .status(Status(rawValue: 3)))])
        #expect(tag.after(.seconds(2)).writes == 1)
        #expect(tag.lastRequest == .touchMode(.gesture, component: 101))
        _ = tag.confirmAndAnswer(status: Status(rawValue: 3))
        #expect(tag.after(.seconds(2)) == [])
        #expect(tag.after(.seconds(2)).writes == 1)
        #expect(tag.lastRequest == .touchMode(.continuous, component: 101), "the one that may have been executed")
        #expect(tag.confirmAndAnswer(confirmed).first == .emit(.touchMode(.continuous)))
        _ = tag.confirmAndAnswer()
        #expect(tag.isIdle)
    }

    @Test("of new gear is requested again after a refusal")
    func refusedSetUp() {
        var tag = SessionFixture(in: .connected)
        _ = tag.notify(.attached(SampleTag.gear()))
        #expect(tag.confirmAndAnswer(status: Status(rawValue: 3)) == [])
        #expect(tag.after(.seconds(2)).writes == 1)
        #expect(tag.lastRequest == .touchMode(.gesture, component: 101))
    }

    @Test("is certain after a refusal if nothing was lost before")
    func refused() {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        #expect(tag.confirmAndAnswer(status: Status(rawValue: 3)) == [.end(1, .status(Status(rawValue: 3)))])
        #expect(tag.isIdle)
    }

    @Test("that is requested again is that of the last command, also if nothing of that one was sent")
    func superseded() {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        _ = tag.confirm() + tag.after(.seconds(8))
        _ = tag.on(.command(.setTouchMode(.gesture), token: 2))
        #expect(tag.after(.seconds(2)) == [])
        _ = tag.on(.writeUnsent(SampleTag.linkError))
        #expect(tag.after(.seconds(2)).writes == 1)
        #expect(tag.lastRequest == .touchMode(.gesture, component: 101))
    }

    @Test("is not requested again if nothing was sent")
    func unsent() {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        _ = tag.on(.writeUnsent(SampleTag.linkError))
        #expect(tag.isIdle)
    }

    @Test("is not changed by values sent before gear confirmed another mode")
    func lateValues() throws {
        var tag = SessionFixture(in: .equipped)
        let (touch, event) = try touch()
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        _ = tag.confirmAndAnswer(confirmed)
        tag.pass(.seconds(1) - .nanoseconds(1))
        #expect(tag.notify(Self.gesture) == [.emit(.gesture(.doubleTap))])
        #expect(tag.notify(touch) == [event])
        tag.pass(.nanoseconds(1))
        #expect(tag.notify(Self.gesture).first == .emit(.touchMode(.gesture)))
    }
}

@Suite("MTU of a link")
struct LinkMTUTests {
    private static let command = TagCommand.playLEDPattern(
        LEDPattern(
            kind: .custom, frames: Array(repeating: .init(color: .white, lengthMilliseconds: 100), count: 13),
            durationMilliseconds: 1300), on: .tag)

    @Test(
        "limits the fragments of a request to three bytes less, and to 61",
        arguments: [
            (23, 20), (24, 21), (63, 60), (64, 61), (247, 61), (517, 61), (0, 20), (Int.min, 20), (Int.max, 61),
        ])
    func limit(mtu: Int, longest: Int) {
        #expect(Fragment.length(mtu: mtu) == longest)
        var tag = SessionFixture(in: .connected)
        #expect(tag.on(.mtuChanged(mtu)) == [])
        let actions = tag.on(.command(Self.command, token: 1)) + tag.confirm()
        let lengths = actions.compactMap { if case .write(let value, _) = $0 { value.count } else { nil } }
        #expect(lengths.dropLast().allSatisfy { $0 == longest })
        #expect(lengths.allSatisfy { $0 <= longest })
        #expect(tag.answer() == [.end(1, .success(.done))])
    }

    @Test("applies to its link only")
    func nextLink() {
        var tag = SessionFixture(in: .discovering)
        _ = tag.on(.mtuChanged(23))
        _ = tag.on(.linkDown(SampleTag.linkError))
        _ = tag.after(.seconds(60))
        tag.connect()
        let actions = tag.on(.command(Self.command, token: 1))
        #expect(actions.contains { if case .write(let value, _) = $0 { value.count == 61 } else { false } })
    }
}
