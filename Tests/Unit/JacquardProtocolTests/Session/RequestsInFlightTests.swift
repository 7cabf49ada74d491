import JacquardProtocol
import Testing

@Suite("Requests in flight")
struct RequestsInFlightTests {
    /// Four fragments long.
    private static let longPattern = LEDPattern(
        kind: .custom, frames: Array(repeating: LEDPattern.Frame(color: .white, lengthMilliseconds: 100), count: 13),
        durationMilliseconds: 1300)
    private static let longCommand = TagCommand.playLEDPattern(longPattern, on: .tag)
    private static let longRequest = Request.playLEDOnTag(longPattern)

    private let battery = BatteryStatus(level: 50, isCharging: true)

    @Test("are one at a time, in their order")
    func order() {
        var tag = SessionFixture(in: .connected)
        #expect(tag.on(.command(.batteryStatus, token: 1)) == [.request(.batteryStatus(), id: 5, withResponse: false)])
        #expect(tag.on(.command(.playLEDPattern(.haltAll, on: .tag), token: 2)) == [])
        #expect(tag.on(.command(.batteryStatus, token: 3)) == [])
        #expect(tag.on(.written) == [])
        #expect(
            tag.answer(.batteryStatus(BatteryStatusReport(battery))) == [
                .emit(.battery(battery)), .end(1, .success(.battery(battery))),
                .request(.playLEDOnTag(.haltAll), id: 6, withResponse: false),
            ])
        #expect(tag.on(.written) == [])
        #expect(
            tag.answer() == [
                .end(2, .success(.done)),
                .request(.batteryStatus(), id: 7, withResponse: false),
            ])
    }

    @Test("are written a fragment at a time")
    func fragments() {
        var tag = SessionFixture(in: .connected)
        let request = Self.longRequest
        #expect(tag.on(.command(Self.longCommand, token: 1)) == [.request(request, id: 5, withResponse: false)])
        for fragment in 1...3 {
            #expect(tag.on(.written) == [.request(request, id: 5, fragment: fragment, withResponse: false)])
        }
        #expect(tag.on(.written) == [])
        #expect(tag.lastRequest == request)
        #expect(tag.answer() == [.end(1, .success(.done))])
    }

    @Test("are not written further after a response or the time limit")
    func abandoned() {
        var answered = SessionFixture(in: .connected)
        _ = answered.on(.command(Self.longCommand, token: 1))
        #expect(answered.answer(id: 5) == [.end(1, .success(.done))])
        #expect(answered.on(.written) == [])
        var expired = SessionFixture(in: .equipped)
        _ = expired.on(.command(Self.longCommand, token: 1))
        #expect(expired.after(.seconds(8)) == [.end(1, .timeout)])
        #expect(expired.on(.written) == [])
    }

    @Test("wait for the last write, whatever the result of its request")
    func writing() {
        let next = TagSession.Action.request(.batteryStatus(), id: 6, withResponse: false)
        for end in [SessionInput.written, .writeFailed(SampleTag.linkError, isNotPermitted: false)] {
            var answered = SessionFixture(in: .commanding)
            #expect(answered.answer(.batteryStatus(BatteryStatusReport(battery))).writes == 0)
            #expect(answered.on(end) == [next])
            var expired = SessionFixture(in: .commanding)
            #expect(expired.after(.seconds(8)) == [.end(1, .timeout)])
            #expect(expired.on(end) == [next])
        }
    }

    @Test("fail if they cannot be written; the next one continues", arguments: [true, false])
    func refused(isNotPermitted: Bool) {
        var tag = SessionFixture(in: .commanding)
        let failure = TagCommandError.writeFailed(name: "org.bluez.Error.Failed", text: "the link was lost")
        #expect(
            tag.on(.writeFailed(SampleTag.linkError, isNotPermitted: isNotPermitted)) == [
                .end(1, failure), .request(.batteryStatus(), id: 6, withResponse: false),
            ])
    }

    @Test("fail as busy if the stack is busy; the next one continues")
    func unsent() {
        var tag = SessionFixture(in: .commanding)
        let failure = TagCommandError.busy(name: "org.bluez.Error.Failed", text: "the link was lost")
        #expect(
            tag.on(.writeUnsent(SampleTag.linkError)) == [
                .end(1, failure), .request(.batteryStatus(), id: 6, withResponse: false),
            ])
    }

    @Test("time out after 8 s; the next one continues and ignores the late response")
    func lateAnswer() {
        var tag = SessionFixture(in: .commanding)
        #expect(tag.on(.written) == [])
        #expect(tag.after(.seconds(8) - .nanoseconds(1)) == [])
        #expect(
            tag.after(.nanoseconds(1)) == [.end(1, .timeout), .request(.batteryStatus(), id: 6, withResponse: false)])
        #expect(tag.answer(.batteryStatus(BatteryStatusReport(battery)), id: 5) == [])
        #expect(tag.confirmAndAnswer(.batteryStatus(BatteryStatusReport(battery))).ends == [2])
    }

    @Test("ignore a response with another id", arguments: [0, 4, 6, 254, 255, UInt32.max])
    func otherID(id: UInt32) {
        var tag = SessionFixture(in: .commanding)
        #expect(tag.answer(status: .busy, id: id) == [])
    }

    @Test("ignore a second response")
    func doubledAnswer() {
        var tag = SessionFixture(in: .commanding)
        #expect(tag.confirmAndAnswer(status: .busy).ends == [1])
        #expect(tag.answer(status: .busy, id: 5) == [])
        #expect(tag.confirmAndAnswer(status: .busy).ends == [2])
        #expect(tag.answer(status: .busy) == [])
    }

    @Test("ignore a response without id or status, but not one with an unreadable body")
    func malformed() {
        var tag = SessionFixture(in: .commanding)
        for packet in ["08 05", "10 00", "08"] {
            let bytes = [UInt8](hex: packet)
            #expect(tag.on(.received([0xC0, UInt8(bytes.count)] + bytes, on: .response)) == [])
        }
        // Field 121 says that it is two bytes long and has one.
        #expect(
            tag.on(.received([UInt8](hex: "C0 08 08 05 10 00 CA 07 01 08"), on: .response)) == [
                .end(1, .malformedResponse)
            ])
    }

    @Test("have ids from 1 to 254, and then 1 again")
    func ids() {
        var tag = SessionFixture(in: .connected)
        var ids = [tag.lastID]
        for token in 1...260 {
            _ = tag.on(.command(.batteryStatus, token: UInt64(token)))
            ids.append(tag.lastID)
            #expect(tag.confirmAndAnswer(status: .busy).ends == [UInt64(token)])
        }
        #expect(ids == Array(4...254) + Array(1...10))
    }

    @Test("fail with the link: a sent one with unknown effect, the others as not sent", arguments: [true, false])
    func lost(isOff: Bool) {
        var tag = SessionFixture(in: .commanding)
        let actions = tag.on(isOff ? .poweredOff : .linkDown(SampleTag.linkError))
        #expect(actions.prefix(2) == [.end(1, .linkLost), .end(2, .notConnected)])
        #expect(actions.ends.count == 2)
    }

    @Test("fail before the link ends if the session drops it")
    func dropped() {
        var tag = SessionFixture(in: .commanding)
        #expect(tag.on(.disconnect) == [.end(1, .linkLost), .end(2, .notConnected), .disconnect])
        #expect(tag.on(.written) == [])
        #expect(tag.answer(id: 5) == [])
        #expect(tag.on(.linkDown(nil)) == [.connection(.disconnected)])
    }

    @Test("are refused while the tag is not connected")
    func notConnected() {
        for phase in SessionPhase.allCases where !SessionPhase.online.contains(phase) {
            var tag = SessionFixture(in: phase)
            #expect(tag.on(.command(.batteryStatus, token: 9)) == [.end(9, .notConnected)])
        }
    }
}
