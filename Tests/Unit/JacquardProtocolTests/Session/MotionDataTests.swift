import JacquardProtocol
import Testing

@Suite("Motion data and raw data")
struct MotionDataTests {
    private static let id = MotionSessionID(session: "run-1")

    /// A tag that has answered which modules it has.
    private func tag(_ goal: MotionGoal, isLoaded: Bool = true) -> SessionFixture {
        var tag = SessionFixture(in: .connected)
        var module = ModuleDescriptor.motion
        module.isEnabled = isLoaded
        _ = tag.on(.command(.motion(goal), token: 1))
        _ = tag.confirmAndAnswer(.modules(ListModuleResponse(modules: [module])))
        return tag
    }

    private func raw(_ packet: [UInt8]) throws -> [UInt8] { try Fragmenter.fragments(of: packet)[0] }

    @Test("a tag without the motion module has a state, and does nothing else")
    func missing() {
        let status = TagCommandResponse.motionStatus(MotionModuleStatus(module: .missing, status: nil))
        let ends: [(MotionGoal, TagSession.Action)] = [
            (.status, .end(1, .success(status))), (.stop, .end(1, .moduleMissing("IMUModule"))),
        ]
        for (goal, end) in ends {
            var tag = SessionFixture(in: .connected)
            _ = tag.on(.command(.motion(goal), token: 1))
            #expect(tag.confirmAndAnswer() == [end])
        }
    }

    @Test("the errors of the motion module are reported once it is loaded")
    func loaded() {
        var tag = tag(.activate, isLoaded: false)
        #expect(tag.lastRequest?.opcode == .loadModule)
        _ = tag.confirmAndAnswer()
        _ = tag.notify(.loaded(.motion, status: .ok))
        #expect(tag.lastRequest == .motionStatus())
        #expect(tag.notify(.status(.lowStorage)) == [.emit(.notified(.status(.lowStorage)))])
    }

    @Test("an error is not reported before the motion module is loaded, and a body that nobody knows always is")
    func errorBeforeModule() {
        var tag = tag(.activate, isLoaded: false)
        _ = tag.confirmAndAnswer()
        #expect(tag.notify(.status(.lowStorage)) == [])
        let unknown = Self.unknown()
        #expect(tag.notify(unknown) == [.emit(.notified(unknown))])
        var both = unknown
        both.error = Notification.status(.lowStorage).error
        #expect(tag.notify(both) == [.emit(.notified(unknown))])
    }

    @Test("a body that nobody knows does not wait for the response to a request, and one of motion data does")
    func unknownBeforeResponse() {
        var tag = tag(.sessions)
        let unknown = Self.unknown()
        #expect(tag.notify(unknown) == [.emit(.notified(unknown))])
        #expect(tag.notify(.session(nil, index: 0, total: 0)) == [])
    }

    @Test("all bodies of a notification are handled, and those that no command waits for are reported")
    func severalBodies() {
        var tag = tag(.erase(Self.id))
        _ = tag.confirmAndAnswer(.motionErase(MotionStatusResponse(.erasing)))
        var notification = Self.unknown()
        notification.module = Notification.loaded(.motion, status: .ok).module
        notification.session = Notification.session(nil, index: 0, total: 0).session
        var rest = notification
        notification.error = Notification.status(.idle).error
        #expect(tag.notify(notification) == [.end(1, .success(.done)), .emit(.notified(rest))])
        rest.error = Notification.status(.lowBattery).error
        #expect(tag.notify(rest) == [.emit(.notified(rest))])
    }

    /// A notification with a body of the number 130.
    private static func unknown() -> Notification {
        (try? Notification.decode([UInt8](hex: "08 00 10 1E 92 08 02 08 01")[...])) ?? .status(.idle)
    }

    @Test("a list of sessions ends with its last entry")
    func sessions() {
        var tag = tag(.sessions)
        _ = tag.confirmAndAnswer(.motionSessionList(MotionStatusResponse(.idle)))
        let sessions = [5, 6].map { StoredMotionSession(id: Self.id, byteCount: $0, crc: 7) }
        #expect(tag.notify(.session(sessions[0], index: 0, total: 2)) == [])
        let end = TagSession.Action.end(1, .success(.motionSessions(sessions, isComplete: true)))
        #expect(tag.notify(.session(sessions[1], index: 1, total: 2)) == [end])
    }

    @Test("notifications that are read before the response to their request count")
    func early() {
        let session = StoredMotionSession(id: Self.id, byteCount: 5, crc: 7)
        var tag = tag(.sessions)
        #expect(tag.notify(.session(session, index: 0, total: 1)) == [])
        let end = TagSession.Action.end(1, .success(.motionSessions([session], isComplete: true)))
        #expect(tag.confirmAndAnswer(.motionSessionList(MotionStatusResponse(.idle))) == [end])

        tag = self.tag(.erase(nil))
        #expect(tag.notify(.status(.idle)) == [])
        #expect(tag.confirmAndAnswer(.motionEraseAll(MotionStatusResponse(.erasing))) == [.end(1, .success(.done))])

        tag = self.tag(.activate, isLoaded: false)
        #expect(tag.notify(.loaded(.motion, status: .ok)) == [])
        _ = tag.confirmAndAnswer()
        #expect(tag.lastRequest == .motionStatus())
    }

    @Test("a command waits until the module is loaded, and the list is complete, for the command before it")
    func oneAtATime() {
        var tag = tag(.record(Self.id, .low), isLoaded: false)
        _ = tag.on(.command(.motion(.stop), token: 2))
        #expect(tag.confirmAndAnswer().isEmpty, "loaded, and nothing is sent")
        #expect(tag.on(.command(.batteryStatus, token: 3)) != [], "other commands go on")
        _ = tag.confirmAndAnswer(.batteryStatus(BatteryStatusReport(BatteryStatus(level: 50, isCharging: false))))
        _ = tag.notify(.loaded(.motion, status: .ok))
        #expect(tag.lastRequest == .motionStatus())
        _ = tag.confirmAndAnswer(.motionStatus(MotionStatusResponse(.idle)))
        _ = tag.confirmAndAnswer()
        let end = tag.confirmAndAnswer(.motionStart(MotionStatusResponse(.logging)))
        #expect(end.contains { if case .emit(.commandEnded(token: 1, .success)) = $0 { true } else { false } })
        #expect(tag.lastRequest?.opcode != .loadModule)

        tag = self.tag(.sessions)
        _ = tag.on(.command(.motion(.sessions), token: 2))
        _ = tag.confirmAndAnswer(.motionSessionList(MotionStatusResponse(.idle)))
        let before = tag.lastRequest
        let session = StoredMotionSession(id: Self.id, byteCount: 5, crc: 7)
        let ended = tag.notify(.session(session, index: 0, total: 1))
        #expect(before == .motionSessionList() && ended.count == 2, "the first list, then the next request")
    }

    @Test("a module that a command unloads is not believed to be active by the next one")
    func unloaded() {
        var tag = tag(.activate, isLoaded: false)
        _ = tag.on(.command(.changeModule(.deactivate, named: "IMUModule"), token: 2))
        _ = tag.confirmAndAnswer()
        _ = tag.notify(.loaded(.motion, status: .ok))
        _ = tag.confirmAndAnswer(.motionStatus(MotionStatusResponse(.idle)))
        #expect(tag.lastRequest?.opcode == .listModules, "deactivate has waited")
        var module = ModuleDescriptor.motion
        module.isEnabled = false
        _ = tag.confirmAndAnswer(.modules(ListModuleResponse(modules: [module])))
        _ = tag.on(.command(.motion(.stop), token: 3))
        #expect(tag.lastRequest == .listModules())
    }

    @Test("a module that does not answer any more is looked up by the next command")
    func unsupported() {
        var tag = tag(.status)
        _ = tag.confirmAndAnswer(.motionStatus(MotionStatusResponse(.idle)))
        _ = tag.on(.command(.motion(.stop), token: 2))
        #expect(tag.lastRequest == .motionStop())
        _ = tag.confirmAndAnswer(nil, status: .unsupported)
        _ = tag.on(.command(.motion(.stop), token: 3))
        #expect(tag.lastRequest == .listModules())
    }

    @Test("no more than a thousand notifications are kept until the response")
    func manyEarly() {
        var tag = tag(.sessions)
        for _ in 0..<1_000 { #expect(tag.notify(.status(.lowStorage)) == []) }
        #expect(tag.notify(.status(.lowStorage)) == [.emit(.notified(.status(.lowStorage)))])
    }

    @Test("a notification that is read before the response is reported if the request fails")
    func earlyBeforeFailure() {
        var tag = tag(.sessions)
        #expect(tag.notify(.status(.lowStorage)) == [])
        let answer = tag.confirmAndAnswer(nil, status: .busy)
        #expect(answer.contains(.emit(.notified(.status(.lowStorage)))))
        #expect(tag.notify(.status(.lowStorage)) == [.emit(.notified(.status(.lowStorage)))])
    }

    @Test("a download is refused in a state of error")
    func downloadStatus() {
        let ends: [(MotionStatus, TagSession.Action)] = [
            (.transferring, .end(1, .success(.done))), (.lowBattery, .end(1, .motionState(.lowBattery))),
        ]
        for (status, end) in ends {
            var tag = tag(.download(Self.id, offset: 0))
            #expect(tag.confirmAndAnswer(.motionDownload(MotionDownloadResponse(status))).last == end)
        }
    }

    @Test("a download acknowledges a repeated packet, and reports it once")
    func repeated() throws {
        var tag = tag(.download(Self.id, offset: 0))
        _ = tag.confirmAndAnswer(.motionDownload(MotionDownloadResponse(.transferring)))
        let packet = SessionInput.received(try raw([9, 1, 2]), on: .rawData)
        let acknowledgement = TagSession.Action.writeRaw(try raw([9, 0x41]))
        #expect(tag.on(packet) == [.emit(.motion(.data([1, 2]))), acknowledgement])
        #expect(tag.on(.written) == [])
        #expect(tag.on(packet) == [acknowledgement])
    }

    @Test("raw data is sent, and the command ends with the result of the write")
    func sendRaw() throws {
        let failure = TagCommandError.writeFailed(name: "org.bluez.Error.Failed", text: "the link was lost")
        let ends: [(SessionInput, TagSession.Action)] = [
            (.written, .end(1, .success(.done))),
            (.writeFailed(SampleTag.linkError, isNotPermitted: false), .end(1, failure)),
        ]
        for (result, end) in ends {
            var tag = SessionFixture(in: .connected)
            #expect(tag.on(.command(.sendRaw([1, 2]), token: 1)) == [.writeRaw(try raw([1, 2]))])
            #expect(tag.on(result) == [end])
        }
    }

    @Test("raw data is reported in the views that were selected before the link was up")
    func views() throws {
        var tag = SessionFixture(in: .linking)
        _ = tag.session.observeRawData([.value, .payload])
        tag.connect()
        let value = try raw([9, 1, 2])
        #expect(
            tag.on(.received(value, on: .rawData))
                == [.emit(.raw(value, view: .value)), .emit(.raw([1, 2], view: .payload))])
    }
}
