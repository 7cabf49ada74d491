import JacquardProtocol
import Testing

@Suite("Commands")
struct CommandTests {
    /// The product ID that the sample tag reports.
    private static let product = JacquardIdentifier(rawValue: 7)
    private static let gear = SampleTag.component(isComplete: true)

    /// One that needs one request and no more than success.
    private static let plain: [(TagCommand, Request)] = [
        (.playLEDPattern(.haltAll, on: .tag), .playLEDOnTag(.haltAll)),
        (.playLEDPattern(.haltAll, on: .gear), .playLED(.haltAll, onGear: 101)),
        (.playHaptic(.stop), .playHaptic(.stop, component: 101)),
        (.disconnectTag(), .disconnect()),
        (
            .disconnectTag(timeoutSeconds: 30, reconnectOnlyOnWakeOnMotion: true),
            .disconnect(timeoutSeconds: 30, reconnectOnlyOnWakeOnMotion: true)
        ),
    ]

    @Test("without a response body succeed with the status", arguments: plain)
    func acknowledged(command: TagCommand, request: Request) {
        var tag = SessionFixture(in: .equipped)
        let id = tag.lastID + 1
        #expect(tag.on(.command(command, token: 1)) == [.request(request, id: id, withResponse: false)])
        #expect(tag.confirmAndAnswer() == [.end(1, .success(.done))])
    }

    @Test("fail with the status of the tag")
    func status() {
        for command in [TagCommand.batteryStatus, .setTouchMode(.continuous), .rename("Sofa"), .configGet(key: "k")] {
            var tag = SessionFixture(in: .equipped)
            _ = tag.on(.command(command, token: 1))
            #expect(tag.confirmAndAnswer(status: .badParameter) == [.end(1, .status(.badParameter))])
        }
    }

    @Test(
        "fail if the response lacks the requested body",
        arguments: [
            .batteryStatus, .setTouchMode(.gesture), .configGet(key: "k"), .deviceInformation(of: .tag),
            .deviceInformation(of: .gear),
        ] as [TagCommand])
    func malformed(command: TagCommand) {
        for body in [nil, .haptic(HapticResponse()), .batteryStatus(BatteryStatusReport())] as [Response.Body?] {
            var tag = SessionFixture(in: .equipped)
            _ = tag.on(.command(command, token: 1))
            #expect(tag.confirmAndAnswer(body) == [.end(1, .malformedResponse)])
        }
    }

    @Test("list the loadable modules; a response without a body has none")
    func modules() {
        var module = ModuleDescriptor()
        module.name = "IMUModule"
        let cases: [(Response.Body?, TagCommandResponse?)] = [
            (.modules(ListModuleResponse(modules: [module])), .modules([module])), (nil, .modules([])),
            (.haptic(HapticResponse()), nil),
        ]
        for (body, response) in cases {
            var tag = SessionFixture(in: .connected)
            _ = tag.on(.command(.listModules, token: 1))
            #expect(tag.lastRequest == .listModules())
            let end = response.map { TagSession.Action.end(1, .success($0)) } ?? .end(1, .malformedResponse)
            #expect(tag.confirmAndAnswer(body) == [end])
        }
    }

    @Test("read the battery, and report it")
    func battery() {
        var tag = SessionFixture(in: .connected)
        let status = BatteryStatus(level: 87, isCharging: false)
        _ = tag.on(.command(.batteryStatus, token: 1))
        #expect(
            tag.confirmAndAnswer(.batteryStatus(BatteryStatusReport(status))) == [
                .emit(.battery(status)), .end(1, .success(.battery(status))),
            ])
    }

    @Test(
        "set the touch mode in two consecutive requests, whatever is queued",
        arguments: [(TouchMode.gesture, UInt32(14)), (.continuous, 2)])
    func touchMode(mode: TouchMode, depth: UInt32) {
        var tag = SessionFixture(in: .equipped)
        _ = tag.on(.command(.setTouchMode(mode), token: 1))
        #expect(tag.lastRequest == .touchMode(mode, component: 101))
        _ = tag.on(.command(.batteryStatus, token: 2))
        let confirmed = tag.confirmAndAnswer(.dataChannel(DataChannelResponse(mode)))
        #expect(confirmed.first == .emit(.touchMode(mode)))
        #expect(confirmed.ends == [])
        #expect(tag.lastRequest == .notificationQueueDepth(depth))
        #expect(tag.confirmAndAnswer().first == .end(1, .success(.done)))
        #expect(tag.lastRequest == .batteryStatus())
    }

    @Test("read the device information, and report it")
    func tagInformation() {
        var tag = SessionFixture(in: .connected)
        _ = tag.on(.command(.deviceInformation(of: .tag), token: 1))
        #expect(tag.lastRequest == .deviceInformationOfTag())
        var information = SampleTag.information
        information.firmware = FirmwareVersion(1, 97, 0)
        let component = information.tagComponent
        #expect(
            tag.confirmAndAnswer(.deviceInfo(information)) == [
                .emit(.information(component)), .end(1, .success(.component(component))),
            ])
    }

    @Test("read the gear information, and report it")
    func gearInformation() throws {
        var tag = SessionFixture(in: .equipped)
        let gear = try #require(Self.gear)
        _ = tag.on(.command(.deviceInformation(of: .gear), token: 1))
        #expect(tag.lastRequest == .deviceInformation(ofGear: 101))
        #expect(
            tag.confirmAndAnswer(.deviceInfo(SampleTag.gearInformation)) == [
                .emit(.gear(gear)), .end(1, .success(.component(gear))),
            ])
    }

    @Test("that exceed the longest packet are refused")
    func tooLong() {
        let frame = LEDPattern.Frame(color: .white, lengthMilliseconds: 100)
        let pattern = LEDPattern(
            kind: .custom, frames: Array(repeating: frame, count: 80), durationMilliseconds: 8000)
        let commands: [TagCommand] = [
            .playLEDPattern(pattern, on: .tag), .configGet(key: String(repeating: "k", count: 1024)),
            .configSet(key: "k", .string(String(repeating: "v", count: 1024))),
        ]
        for command in commands {
            var tag = SessionFixture(in: .connected)
            #expect(tag.on(.command(command, token: 1)) == [.end(1, .invalidParameter)])
        }
    }

    @Test("that fill the longest packet are sent")
    func longest() {
        var tag = SessionFixture(in: .connected)
        let overhead =
            Request.configGet(product: Self.product, key: String(repeating: "k", count: 200)).encoded(id: 254)
            .count - 200
        let key = String(repeating: "k", count: Fragment.maximumPacketLength - overhead)
        #expect(tag.on(.command(.configGet(key: key), token: 1)).writes == 1)
        #expect(tag.on(.command(.configGet(key: key + "k"), token: 2)) == [.end(2, .invalidParameter)])
    }
}
