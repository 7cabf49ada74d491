import JacquardProtocol
import Testing

@Suite("Notifications of a tag")
struct TagNotificationsTests {
    private static let battery = BatteryStatus(level: 50, isCharging: true)
    private static let touch = TouchData(sequence: 9, scaled: Array(0..<13))
    /// Those in which notifications may be on and the connection is wanted.
    private static let listening = [.subscribing] + SessionPhase.starting + SessionPhase.online
    /// Those in which the link is going down.
    private static let closing = [SessionPhase.closing, .stopping, .restarting]

    @Test("become events from the first subscription on", arguments: listening)
    func events(phase: SessionPhase) throws {
        var tag = SessionFixture(in: phase)
        let touch = try #require(Self.touch)
        #expect(tag.notify(.batteryStatus(Self.battery)) == [.emit(.battery(Self.battery))])
        #expect(
            tag.notify(.dataChannel(DataChannelNotification(.doubleTap), component: 101)) == [
                .emit(.gesture(.doubleTap))
            ])
        #expect(tag.notify(.dataChannel(DataChannelNotification(touch), component: 101)).last == .emit(.touch(touch)))
    }

    @Test("become events until the link is down, and nothing is written", arguments: Self.closing)
    func linkGoesDown(phase: SessionPhase) throws {
        var tag = SessionFixture(in: phase)
        let touch = try #require(Self.touch)
        #expect(
            tag.notify(.dataChannel(DataChannelNotification(.doubleTap), component: 101)) == [
                .emit(.gesture(.doubleTap))
            ])
        #expect(tag.notify(.dataChannel(DataChannelNotification(touch), component: 101)).last == .emit(.touch(touch)))
        #expect(tag.notify(.batteryStatus(Self.battery)) == [.emit(.battery(Self.battery))])
        #expect(tag.notify(.attached(SampleTag.gear(6))) == [.emit(.gear(SampleTag.component(SampleTag.gear(6))))])
        for id in 1...9 as ClosedRange<UInt32> { #expect(tag.answer(SampleTag.hello, id: id) == []) }
        #expect(tag.on(.written) == [])
    }

    @Test(
        "become events while the link is dropped because the tag does not answer, however long that takes",
        arguments: SessionPhase.starting + [.commanding])
    func unansweredRequest(phase: SessionPhase) throws {
        var tag = SessionFixture(in: phase)
        var actions: [TagSession.Action] = []
        while !actions.contains(.disconnect) { actions = tag.confirm() + (try tag.atDeadline()) }
        for _ in 1...9 {
            tag.pass(.seconds(1))
            #expect(
                tag.notify(.dataChannel(DataChannelNotification(.doubleTap), component: 101)) == [
                    .emit(.gesture(.doubleTap))
                ])
        }
        #expect(tag.on(.linkDown(nil)).connections.count == 1)
    }

    @Test("are counted if their packet is cut off by the end of the link, once", arguments: [true, false])
    func cutOff(isRequested: Bool) {
        var tag = SessionFixture(in: .connected)
        if isRequested { _ = tag.on(.disconnect) }
        #expect(tag.on(.received([0x80, 200, 1], on: .notify)) == [])
        #expect(tag.on(.linkDown(nil)).first == .emit(.fragmentsLost))
        _ = tag.on(.connect(.always))
        #expect(!tag.after(.seconds(1)).contains(.emit(.fragmentsLost)))
    }

    @Test("are counted if their packet cannot be decoded, and the next ones are events")
    func undecodable() {
        var tag = SessionFixture(in: .connected)
        #expect(tag.on(.received([0xC0, 2, 0x08, 0xFF], on: .notify)) == [.emit(.fragmentsLost)])
        #expect(
            tag.notify(.dataChannel(DataChannelNotification(.doubleTap), component: 101)) == [
                .emit(.gesture(.doubleTap))
            ])
    }

    @Test("are gestures also while the gear is believed to report touches, or nothing is attached")
    func otherMode() throws {
        var tag = SessionFixture(in: .equipped)
        let touch = try #require(Self.touch)
        tag.pass(.seconds(60))
        _ = tag.notify(.dataChannel(DataChannelNotification(touch), component: 101))
        #expect(
            tag.notify(.dataChannel(DataChannelNotification(.doubleTap), component: 101)).last
                == .emit(.gesture(.doubleTap)))
        _ = tag.notify(.attached(AttachedNotification()))
        #expect(
            tag.notify(.dataChannel(DataChannelNotification(.doubleTap), component: 101)) == [
                .emit(.gesture(.doubleTap))
            ])
    }

    @Test("are ignored without a requested link")
    func notListening() {
        for phase in SessionPhase.allCases where !(Self.listening + Self.closing).contains(phase) {
            var tag = SessionFixture(in: phase)
            #expect(tag.notify(.batteryStatus(Self.battery)) == [])
            #expect(tag.notify(.attached(SampleTag.gear())) == [])
            #expect(tag.notify(.dataChannel(DataChannelNotification(.doubleTap), component: 101)) == [])
            // The second fragment of a packet that never began.
            #expect(tag.on(.received([0x41, 1], on: .notify)) == [])
        }
    }

    @Test("may contain several bodies")
    func several() throws {
        var tag = SessionFixture(in: .connected)
        let touch = try #require(Self.touch)
        var notification = Notification.batteryStatus(Self.battery)
        notification.dataChannel = DataChannelNotification(.brushIn)
        notification.dataChannel?.touchData = TouchDataMessage(touch)
        notification.attached = AttachedNotification()
        #expect(
            tag.notify(notification) == [
                .emit(.gesture(.brushIn)), .emit(.touchMode(.continuous)), .emit(.touch(touch)),
                .emit(.battery(Self.battery)), .emit(.gear(nil)),
            ])
    }

    @Test("are no event with a missing field or an unknown reason")
    func incomplete() {
        var tag = SessionFixture(in: .connected)
        var battery = Notification.batteryStatus(Self.battery)
        battery.batteryStatus?.chargingStatus = nil
        #expect(tag.notify(battery) == [])
        #expect(tag.notify(.dataChannel(DataChannelNotification(), component: 101)) == [])
        #expect(tag.notify(Notification(domain: .base, opcode: .error)) == [])
    }

    @Test(
        "cause one event for a lost fragment, however many of its packet arrive",
        arguments: [TagCharacteristic.notify, .response])
    func fragmentLost(characteristic: TagCharacteristic) {
        var tag = SessionFixture(in: .connected)
        #expect(tag.on(.received([0x80, 200] + Array(repeating: 1, count: 59), on: characteristic)) == [])
        #expect(
            tag.on(.received([0x02] + Array(repeating: 1, count: 60), on: characteristic)) == [.emit(.fragmentsLost)])
        #expect(tag.on(.received([0x43, 1], on: characteristic)) == [])
        #expect(tag.notify(.batteryStatus(Self.battery)) == [.emit(.battery(Self.battery))])
    }

    @Test("are ignored on the other characteristics", arguments: [TagCharacteristic.command, .rawData])
    func others(characteristic: TagCharacteristic) {
        var tag = SessionFixture(in: .connected)
        #expect(tag.on(.received([0x41, 1], on: characteristic)) == [])
    }
}
