import JacquardProtocol
import Testing

@Suite("Commands to gear")
struct GearCommandTests {
    @Test("that wait for gear fail when it is detached")
    func withdrawn() {
        var tag = SessionFixture(in: .equipped)
        let commands: [TagCommand] = [
            .batteryStatus, .playHaptic(.stop), .setTouchMode(.continuous), .playLEDPattern(.haltAll, on: .gear),
            .deviceInformation(of: .gear), .playLEDPattern(.haltAll, on: .tag),
        ]
        for (token, command) in zip(UInt64(1)..., commands) { _ = tag.on(.command(command, token: token)) }
        #expect(
            tag.notify(.attached(AttachedNotification())) == [
                .emit(.gear(nil)), .end(2, .gearNotAttached), .end(3, .gearNotAttached), .end(4, .gearNotAttached),
                .end(5, .gearNotAttached),
            ])
        #expect(tag.confirmAndAnswer(status: .busy).ends == [1])
        #expect(tag.lastRequest == .playLEDOnTag(.haltAll))
    }

    @Test("stay when the gear is reported again under its number")
    func sameNumber() {
        var tag = SessionFixture(in: .equipped)
        for token in [1, 2] as [UInt64] { _ = tag.on(.command(.playHaptic(.stop), token: token)) }
        #expect(tag.notify(.attached(SampleTag.gear())) == [.emit(.gear(SampleTag.component()))])
        #expect(tag.confirmAndAnswer().ends == [1])
        #expect(tag.confirmAndAnswer().ends == [2])
        #expect(tag.lastRequest == .touchMode(.gesture, component: 101))
    }

    @Test("to change the touch mode fail if the gear is detached meanwhile", arguments: [0, 1])
    func touchModeOfFormerGear(step: Int) {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        let answers = [Response.Body.dataChannel(DataChannelResponse(.continuous)), nil]
        for body in answers.prefix(step) { _ = tag.confirmAndAnswer(body) }
        #expect(tag.notify(.attached(AttachedNotification())) == [.emit(.gear(nil))])
        #expect(tag.confirmAndAnswer(answers[step]) == [.end(1, .gearNotAttached)])
    }

    @Test("to read gear information fail if the gear is detached meanwhile")
    func informationOfFormerGear() {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.deviceInformation(of: .gear), token: 1))
        _ = tag.notify(.attached(AttachedNotification()))
        #expect(tag.confirmAndAnswer(.deviceInfo(SampleTag.gearInformation)) == [.end(1, .gearNotAttached)])
    }

    private static let refusals: [(AttachedNotification?, TagCommand, TagCommandError)] = [
        (nil, .playLEDPattern(.haltAll, on: .gear), .gearNotAttached),
        (nil, .playHaptic(.stop), .gearNotAttached),
        (nil, .setTouchMode(.gesture), .gearNotAttached),
        (nil, .deviceInformation(of: .gear), .gearNotAttached),
        (SampleTag.jacket, .playLEDPattern(.haltAll, on: .gear), .componentDoesNotSupportPlayLEDPattern),
        (SampleTag.unknownGear, .playLEDPattern(.haltAll, on: .gear), .componentDoesNotSupportPlayLEDPattern),
        (SampleTag.unknownGear, .playHaptic(.stop), .componentDoesNotSupportPlayHaptic),
        (SampleTag.unknownGear, .setTouchMode(.gesture), .componentDoesNotSupportTouchMode),
        (SampleTag.unknownGear, .setTouchMode(.continuous), .componentDoesNotSupportTouchMode),
    ]

    @Test("are refused if the gear does not support them, or without gear", arguments: refusals)
    func refusal(gear: AttachedNotification?, command: TagCommand, error: TagCommandError) {
        var tag = SessionFixture(in: .connected)
        if let gear { _ = tag.notify(.attached(gear)) } else { _ = tag.after(.seconds(2)) }
        #expect(tag.on(.command(command, token: 1)) == [.end(1, error)])
    }

    @Test("wait until the tag has reported its gear, which it does after each connection, for 2 s at most")
    func earlyCommand() {
        var tag = SessionFixture(in: .connected)
        #expect(tag.on(.command(.playHaptic(.stop), token: 1)) == [])
        #expect(tag.on(.command(.batteryStatus, token: 2)).ends == [])
        #expect(tag.confirmAndAnswer(status: .busy).ends == [2], "a command to the tag does not wait")
        _ = tag.notify(.attached(SampleTag.jacket))
        #expect(tag.lastRequest == .touchMode(.gesture, component: 101), "gear is set up first")
        _ = tag.confirmAndAnswer(.dataChannel(DataChannelResponse(.gesture)))
        #expect(tag.confirmAndAnswer().ends == [])
        #expect(tag.confirmAndAnswer(.deviceInfo(SampleTag.gearInformation)).ends + tag.confirmAndAnswer().ends == [1])
        var without = SessionFixture(in: .connected)
        #expect(without.on(.command(.playHaptic(.stop), token: 1)) == [])
        #expect(without.after(.seconds(2)) == [.emit(.gear(nil)), .end(1, .gearNotAttached)])
        var lost = SessionFixture(in: .connected)
        #expect(lost.on(.command(.playHaptic(.stop), token: 1)) == [])
        #expect(lost.on(.linkDown(SampleTag.linkError)).contains(.end(1, .notConnected)))
    }

    @Test("to change the touch mode fail as lost with the link, also between their two requests")
    func touchModeWithoutLink() {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.setTouchMode(.continuous), token: 1))
        // The second request waits behind another command.
        _ = tag.on(.command(.batteryStatus, token: 2))
        _ = tag.confirmAndAnswer(.dataChannel(DataChannelResponse(.continuous)))
        let ends = tag.on(.linkDown(SampleTag.linkError)).filter { $0 == .end(1, .linkLost) }
        #expect(ends.count == 1)
    }
}
