import JSON
import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("J50 to J58 imu/set and imu/get")
struct MotionCommandTests {
    static let session = StoredMotionSession(
        id: MotionSessionID(session: "run-1"), byteCount: 6, crc: CRC16.of([1, 2, 3, 4, 5, 6]))
    private static let active = MotionModuleStatus(module: .active, status: .logging)

    static func scene(hasFolder: Bool = true) -> Scene {
        let scene = Scene()
        var configuration = Scene.configuration()
        configuration.options.features.motion.folder = hasFolder ? "/sessions" : nil
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.connect()
        _ = scene.takeActions()
        return scene
    }

    @Test("nothing appears before the first use")
    func unused() {
        let scene = Self.scene()
        #expect(scene.report(.notified(.status(.idle))) == [])
        #expect(scene.report(.motion(.data([1]))) == [])
        #expect(!scene.publications.contains { $0.topic.contains("/imu") })
    }

    @Test("send these commands")
    func commands() {
        let scene = Self.scene()
        let rates = MotionRates(accelerometerHertz: 100, gyroscopeHertz: 200) ?? .low
        let cases: [(String, TagCommand)] = [
            ("activate", .motion(.activate)),
            (#"{"action":"deactivate"}"#, .changeModule(.deactivate, named: "IMUModule")),
            (
                #"{"action":"record","session":"run-1","group":"g","accelerometer_hz":100,"gyroscope_hz":200}"#,
                .motion(.record(MotionSessionID(session: "run-1", group: "g"), rates))
            ),
            ("stop", .motion(.stop)), (#"{"action":"stream"}"#, .motion(.stream(.low))),
            (#"{"action":"download","session":"run-1"}"#, .motion(.sessions)),
            (#"{"action":"erase","session":"run-1"}"#, .motion(.erase(MotionSessionID(session: "run-1")))),
            (#"{"action":"erase_all","confirm":"all"}"#, .motion(.erase(nil))),
        ]
        for (payload, command) in cases {
            scene.send("tag/003R/imu/set", payload)
            #expect(scene.performed.last == command, "\(payload)")
        }
        scene.send("tag/003R/imu/get", "")
        #expect(scene.performed.last == .motion(.status))
        scene.send("tag/003R/imu/sessions/get", "")
        #expect(scene.performed.last == .motion(.sessions))
    }

    private static let wrong: [(String, String)] = [
        (
            "",
            #""action" is missing; it may be activate, deactivate, record, stop, stream, download, erase, erase_all"#
        ),
        (
            #"{"action":"record"}"#,
            #""session" is missing; it may be 1 to 30 characters, of at most 120 bytes, without control characters"#
        ),
        (
            #"{"action":"record","session":"x","gyroscope_hz":30}"#,
            #""gyroscope_hz" is 30; it may be 25, 50, 100, 200, 400, 800, 1600, 3200"#
        ),
        (#"{"action":"stream","seconds":3601}"#, #""seconds" is 3601; it may be 1 to 3600 seconds"#),
        (#"{"action":"stream","format":"xml"}"#, #""format" is "xml"; it may be json, binary"#),
        (#"{"action":"download"}"#, #""session" is missing; it may be the name of a session"#),
        (#"{"action":"erase_all"}"#, #""confirm" is missing; it may be all"#),
    ]

    @Test("reject what is missing or not allowed, without a byte to the tag", arguments: wrong)
    func rejected(payload: String, text: String) {
        let scene = Self.scene()
        scene.send("tag/003R/imu/set", payload)
        #expect(scene.performed == [])
        #expect(scene.lastError?.text == text)
    }

    @Test("J51: a recording needs 50 % of battery, and is shown")
    func record() {
        let scene = Self.scene()
        scene.report(.battery(BatteryStatus(level: 49, isCharging: false)))
        scene.send("tag/003R/imu/set", #"{"action":"record","session":"run-1"}"#)
        #expect(scene.performed == [])
        #expect(scene.lastError?.text == "The battery is at 49 %; a recording needs 50 %")
        scene.report(.battery(BatteryStatus(level: 50, isCharging: false)))
        scene.send("tag/003R/imu/set", #"{"action":"record","session":"run-1"}"#)
        let line = scene.answer(.motionStatus(Self.active)).last
        let expected = #"""
            jacquard/tag/003R/imu {"accelerometer_hz":25,"code":1,"download":null,"dps_per_unit":0.06103515625,\#
            "error":null,"file":null,"g_per_unit":0.00048828125,"gyroscope_hz":25,"lost":0,"mode":"store",\#
            "module":"active","session":"run-1","state":"logging","tick_us":32}
            """#
        #expect(line == expected)
    }

    @Test(
        "J51: a recording ends with any other state of the sensor",
        arguments: [MotionStatus.idle, .lowBattery, .erasing])
    func recordingEnds(status: MotionStatus) {
        let scene = Self.scene()
        scene.send("tag/003R/imu/set", #"{"action":"record","session":"run-1"}"#)
        scene.answer(.motionStatus(Self.active))
        #expect(scene.report(.notified(.status(status))).last?.contains(#""mode":"none""#) == true)
    }

    @Test("J51: a state that does not allow a recording is named")
    func busy() {
        let scene = Self.scene()
        scene.send("tag/003R/imu/set", #"{"action":"record","session":"run-1"}"#)
        scene.fail(.motionState(.logging))
        #expect(scene.lastError?.code == "busy")
        scene.send("tag/003R/imu/set", #"{"action":"record","session":"run-1"}"#)
        scene.fail(.motionState(.lowStorage))
        #expect(scene.lastError?.code == "tag_error")
        #expect(scene.lastError?.text == "The state of motion data is LOW_STORAGE")
    }

    @Test("J53: sessions are in the result, and retained")
    func sessions() {
        let scene = Self.scene()
        scene.send("tag/003R/imu/sessions/get", "")
        let lines = scene.answer(.motionSessions([Self.session], isComplete: true))
        #expect(lines.first?.contains(#""sessions":[{"bytes":6,"#) == true)
        #expect(lines.last?.hasPrefix(#"jacquard/tag/003R/imu/sessions [{"bytes":6,"campaign":"IMU_Campaign""#) == true)
        scene.send("tag/003R/imu/sessions/get", "")
        scene.answer(.motionSessions([], isComplete: false))
        #expect(scene.lastError?.code == "timeout")
        #expect(scene.state.tags.first?.motion.sessions == [Self.session], "a part of a list replaces nothing")
    }

    @Test("the list of modules has the state of the sensor's module, also after imu/set and info/get")
    func modules() {
        func isEnabled(_ lines: [String]) -> Bool? {
            lines.last { $0.hasPrefix("jacquard/tag/003R/modules ") }?.contains(#""enabled":true"#)
        }
        let scene = Self.scene()
        scene.send("tag/003R/modules/get", "")
        #expect(isEnabled(scene.answer(.modules([.motion]))) == false)
        scene.send("tag/003R/imu/set", "activate")
        #expect(isEnabled(scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))) == true)
        scene.send("tag/003R/imu/set", "deactivate")
        #expect(isEnabled(scene.answer(.modules([.motion]))) == false)
        scene.send("tag/003R/imu/set", "activate")
        scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))
        scene.send("tag/003R/info/get", #"{"component":"modules"}"#)
        #expect(isEnabled(scene.answer(.modules([.motion]))) == false)
    }

    @Test("J58: what another client left running is read at the next connection, and a stream ends with its link")
    func reconnect() {
        let scene = Self.scene()
        scene.send("tag/003R/imu/set", #"{"action":"stream"}"#)
        scene.answer(.motionStatus(Self.active))
        scene.disconnect()
        let fact = scene.publications.last { $0.topic.hasSuffix("/imu") }?.text
        #expect(fact?.contains(#""mode":"none""#) == true && fact?.contains(#""state":null"#) == true)
        scene.connect()
        #expect(scene.performed.last == .motion(.status))
        #expect(
            scene.answer(.motionStatus(MotionModuleStatus(module: .inactive, status: nil))).last?.contains(
                #""module":"inactive""#) == true)
    }

    /// Two sessions with one name, and one without another of its name.
    private static let twins =
        ["a", "b"].map { group in
            StoredMotionSession(id: MotionSessionID(session: "run-1", group: group), byteCount: 6, crc: 1)
        } + [StoredMotionSession(id: MotionSessionID(session: "run-2"), byteCount: 6, crc: 1)]

    @Test("J54, J55: of sessions with one name, the other words choose, and a command without them is refused")
    func twins() {
        let scene = Self.scene()
        scene.send("tag/003R/imu/sessions/get", "")
        scene.answer(.motionSessions(Self.twins, isComplete: true))
        scene.send("tag/003R/imu/set", #"{"action":"erase","session":"run-1","group":"b"}"#)
        #expect(scene.performed.last == .motion(.erase(Self.twins[1].id)))
        scene.answer()
        scene.send("tag/003R/imu/sessions/get", "")
        scene.answer(.motionSessions(Self.twins, isComplete: true))
        scene.performed = []
        scene.send("tag/003R/imu/set", #"{"action":"erase","session":"run-1"}"#)
        #expect(scene.performed == [])
        #expect(scene.lastError?.text == #"The tag has 2 sessions "run-1""#)
        #expect(scene.lastError?.hint == "Add group; imu/sessions/get lists them")
        scene.send("tag/003R/imu/set", #"{"action":"erase","session":"run-2","group":"a"}"#)
        #expect(scene.performed == [] && scene.lastError?.text == #"The tag has no session "run-2""#)
        scene.send("tag/003R/imu/set", #"{"action":"erase","session":"run-2"}"#)
        #expect(scene.performed == [.motion(.erase(Self.twins[2].id))])
        scene.answer()
        scene.send("tag/003R/imu/set", #"{"action":"erase","session":"run-3","group":"a"}"#)
        #expect(scene.performed.last == .motion(.erase(MotionSessionID(session: "run-3", group: "a"))), "a newer one")
        scene.answer()
        scene.send("tag/003R/imu/set", #"{"action":"download","session":"run-1","group":"b"}"#)
        _ = scene.takeActions()
        scene.answer(.motionSessions(Self.twins, isComplete: true))
        #expect(scene.takeActions().contains(.file(.open, FeatureFile(of: Self.twins[1]), of: .tag003R)))
    }

    @Test("J50: a module is deactivated after each use, also one that has failed or listed sessions")
    func idleAfterAnything() {
        func deactivates(_ scene: Scene) -> Bool {
            scene.performed = []
            scene.wait(.seconds(600))
            return scene.performed == [.changeModule(.deactivate, named: "IMUModule")]
        }
        let listed = Self.scene()
        listed.send("tag/003R/imu/sessions/get", "")
        listed.answer(.motionSessions([], isComplete: true))
        #expect(deactivates(listed))
        let refused = Self.scene()
        refused.send("tag/003R/imu/set", #"{"action":"stream"}"#)
        refused.fail(.motionState(.lowBattery))
        #expect(deactivates(refused))
        let loaded = Self.scene()
        var module = ModuleDescriptor.motion
        module.isEnabled = true
        loaded.send("tag/003R/modules/set", #"{"module":"IMUModule","action":"activate"}"#)
        loaded.answer(.modules([module]))
        #expect(deactivates(loaded))
        let away = Self.scene()
        away.send("tag/003R/imu/set", "activate")
        away.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))
        away.disconnect()
        away.wait(.seconds(700))
        away.connect()
        away.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))
        #expect(deactivates(away))
        let lost = Self.scene()
        lost.send("tag/003R/imu/set", #"{"action":"stream"}"#)
        lost.answer(.motionStatus(Self.active))
        lost.disconnect()
        lost.connect()
        lost.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))
        #expect(deactivates(lost))
    }

    @Test("J50: a module that records for another client is left alone")
    func foreignRecording() {
        let scene = Self.scene()
        scene.send("tag/003R/imu/set", "activate")
        scene.answer(.motionStatus(Self.active))
        scene.wait(.seconds(2_000))
        #expect(scene.performed.count == 1)
        scene.report(.notified(.status(.idle)))
        scene.wait(.seconds(600))
        #expect(scene.performed.last == .changeModule(.deactivate, named: "IMUModule"))
    }

    @Test(
        "J50: a module that another client has activated is left alone when it is listed",
        arguments: ["modules/get", "info/get"])
    func foreignModule(command: String) {
        let scene = Self.scene()
        var module = ModuleDescriptor.motion
        module.isEnabled = true
        scene.send("tag/003R/" + command, command == "info/get" ? #"{"component":"modules"}"# : "")
        scene.answer(.modules([module]))
        scene.wait(.seconds(2_000))
        #expect(scene.performed.count == 1)
    }

    @Test("J48: a module that is deactivated by modules/set ends its stream")
    func deactivatedElsewhere() {
        let scene = Self.scene()
        scene.send("tag/003R/imu/set", #"{"action":"stream"}"#)
        scene.answer(.motionStatus(Self.active))
        scene.send("tag/003R/modules/set", #"{"module":"IMUModule","action":"deactivate"}"#)
        let lines = scene.answer(.modules([.motion]))
        #expect(lines.last?.contains(#""mode":"none","module":"inactive""#) == true)
        scene.send("tag/003R/modules/get", "")
        #expect(scene.answer(.modules([])).last?.contains(#""module":"missing""#) == true)
    }

    @Test("J50: an unused module is deactivated after ten minutes")
    func idle() {
        let scene = Self.scene()
        scene.send("tag/003R/imu/set", "activate")
        scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))
        scene.wait(.seconds(599))
        #expect(scene.performed.count == 1)
        scene.wait(.seconds(1))
        #expect(scene.performed.last == .changeModule(.deactivate, named: "IMUModule"))
        #expect(scene.answer(.modules([])).last?.contains(#""module":"inactive""#) == true)
    }
}

@Suite("J57 T/imu/data")
struct MotionStreamTests {
    private func scene(_ payload: String) -> Scene {
        let scene = MotionCommandTests.scene()
        scene.send("tag/003R/imu/set", payload)
        scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .logging)))
        return scene
    }

    private func value(_ first: Int, _ count: Int = 3) throws -> MotionValue {
        let samples = (0..<count).flatMap { number in
            MotionSample(
                acceleration: SIMD3(-139, 30, 2123), rotation: SIMD3(-21, 1, 0),
                ticks: 1000 + UInt32(first + number) * 157
            ).encoded
        }
        return try #require(MotionValue([0xC0, 0] + samples))
    }

    @Test("samples are published in batches of 50 ms, with QoS 0")
    func batches() throws {
        let scene = scene(#"{"action":"stream"}"#)
        #expect(scene.report(.motion(.samples(try value(0)))) == [])
        let lines = scene.wait(.milliseconds(50))
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix(#"jacquard/tag/003R/imu/data {"accel_gyro":[[-139,30,2123,-21,1,0],["#))
        #expect(lines[0].contains(#""lost":0,"sensor":0,"seq":0,"step":157,"ticks":1000,"#))
        #expect(scene.publications.last?.message.qos == .atMostOnce)
        scene.report(.motion(.samples(try value(5))))
        #expect(scene.wait(.milliseconds(50)).first?.contains(#""lost":2,"sensor":0,"seq":3,"#) == true)
    }

    @Test("32 samples are published at once")
    func full() throws {
        let scene = scene(#"{"action":"stream"}"#)
        var lines: [String] = []
        for number in 0..<11 { lines += scene.report(.motion(.samples(try value(number * 3)))) }
        #expect(lines.count == 1)
    }

    @Test("a batch ends where the next value, of up to three samples, may have no place")
    func nearlyFull() throws {
        let scene = scene(#"{"action":"stream"}"#)
        for number in 0..<29 { #expect(scene.report(.motion(.samples(try value(number, 1)))) == []) }
        #expect(scene.report(.motion(.samples(try value(29, 1)))).count == 1)
    }

    @Test("the binary form is a header of 16 bytes and the samples unchanged")
    func binary() throws {
        let scene = scene(#"{"action":"stream","format":"binary"}"#)
        let first = try value(0)
        scene.report(.motion(.samples(first)))
        scene.wait(.milliseconds(50))
        let payload = scene.publications.last { $0.topic.hasSuffix("imu/data") }?.payload ?? []
        #expect(payload.prefix(16) == [0x4A, 0x32, 0x4D, 0x31, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(payload.dropFirst(16) == first.samples[...])
    }

    @Test("a stream ends with the bridge")
    func stop() {
        let scene = scene(#"{"action":"stream"}"#)
        let lines = scene.handle(.stopping)
        #expect(lines.contains { $0.hasPrefix("jacquard/tag/003R/imu {") && $0.contains(#""mode":"none""#) })
    }

    @Test("a stream ends by itself")
    func end() {
        let scene = scene(#"{"action":"stream","seconds":5}"#)
        scene.wait(.seconds(5))
        #expect(scene.performed.last == .motion(.stop))
        #expect(scene.publications.last?.text.contains(#""mode":"none""#) == true)
    }

    @Test(
        "the end of a stream is requested again until the tag accepts it, or its link ends", arguments: [true, false])
    func endAgain(isAccepted: Bool) {
        let scene = scene(#"{"action":"stream","seconds":5}"#)
        scene.wait(.seconds(5))
        func stops() -> Int { scene.performed.count { $0 == .motion(.stop) } }
        for (count, pause) in [(1, 2), (2, 4), (3, 8)] {
            #expect(stops() == count)
            scene.fail(.timeout)
            scene.wait(.seconds(pause))
        }
        #expect(stops() == 4)
        if isAccepted { scene.answer() } else { scene.disconnect() }
        scene.wait(.seconds(300))
        #expect(stops() == 4)
    }
}

@Suite("J55 downloads to a file")
struct MotionDownloadTests {
    private static let session = MotionCommandTests.session

    private func downloading(_ session: StoredMotionSession = session, _ more: String = "") -> Scene {
        let scene = MotionCommandTests.scene()
        scene.send("tag/003R/imu/set", #"{"action":"download","session":"run-1"\#(more)}"#)
        scene.answer(.motionSessions([session], isComplete: true))
        return scene
    }

    /// A download whose file is open, so that the tag sends.
    private func receiving(_ session: StoredMotionSession = session, _ more: String = "") -> Scene {
        let scene = downloading(session, more)
        scene.handle(.file(.tag003R, FeatureFile(of: session), .opened(byteCount: 0, checksum: CRC16())))
        scene.answer()
        return scene
    }

    private func imu(_ scene: Scene) -> String {
        scene.publications.last { $0.topic == "jacquard/tag/003R/imu" }?.text ?? ""
    }

    @Test("need a folder")
    func folder() {
        let scene = MotionCommandTests.scene(hasFolder: false)
        scene.send("tag/003R/imu/set", #"{"action":"download","session":"run-1"}"#)
        #expect(scene.lastError?.code == "not_permitted")
        #expect(scene.performed == [])
    }

    @Test("of a session that the tag does not have are refused")
    func unknown() {
        let scene = MotionCommandTests.scene()
        scene.send("tag/003R/imu/set", #"{"action":"download","session":"run-2"}"#)
        scene.answer(.motionSessions([Self.session], isComplete: true))
        #expect(scene.lastError?.text == #"The tag has no session "run-2""#)
    }

    @Test("open the file, transfer, check size and CRC, and name the file")
    func whole() {
        let scene = downloading()
        #expect(scene.takeActions().first == .file(.open, FeatureFile(of: Self.session), of: .tag003R))
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .opened(byteCount: 0, checksum: CRC16())))
        #expect(scene.performed.last == .motion(.download(Self.session.id, offset: 0)))
        scene.answer()
        scene.report(.motion(.data([1, 2, 3, 4])))
        scene.report(.motion(.data([5, 6])))
        #expect(
            scene.takeActions() == [
                .file(.append([1, 2, 3, 4]), FeatureFile(of: Self.session), of: .tag003R),
                .file(.append([5, 6]), FeatureFile(of: Self.session), of: .tag003R),
                .file(.finish, FeatureFile(of: Self.session), of: .tag003R),
            ])
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .finished("/imu/003R/1-2.bin")))
        #expect(imu(scene).contains(#""download":null"#))
        #expect(imu(scene).contains(#""file":"/imu/003R/1-2.bin""#))
        #expect(!scene.performed.contains(.motion(.erase(Self.session.id))))
    }

    @Test("continue at the size of an incomplete file after a lost link")
    func resume() {
        let scene = receiving()
        scene.report(.motion(.data([1, 2, 3])))
        scene.disconnect()
        _ = scene.takeActions()
        scene.connect()
        #expect(scene.takeActions().contains(.file(.open, FeatureFile(of: Self.session), of: .tag003R)))
        var checksum = CRC16()
        checksum.add([1, 2, 3])
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .opened(byteCount: 3, checksum: checksum)))
        #expect(scene.performed.last == .motion(.download(Self.session.id, offset: 3)))
        scene.answer()
        scene.report(.motion(.data([4, 5, 6])))
        #expect(scene.takeActions().last == .file(.finish, FeatureFile(of: Self.session), of: .tag003R))
    }

    @Test("with another CRC delete the file, stop, and say so")
    func checksum() {
        let scene = receiving()
        scene.report(.motion(.data([1, 2, 3, 4, 5, 7])))
        #expect(scene.takeActions().last == .file(.discard, FeatureFile(of: Self.session), of: .tag003R))
        #expect(imu(scene).contains("crc_mismatch"))
        #expect(scene.performed.last == .motion(.stop))
    }

    private static let failures: [([UInt8], String)] = [
        ([], "the tag has ended the transfer early"),
        ([UInt8](repeating: 1, count: 7), "the tag sends more bytes than it has listed"),
    ]

    @Test("that end too early or too late keep what they have", arguments: failures)
    func failure(data: [UInt8], reason: String) {
        let scene = receiving()
        scene.report(.motion(.data(data)))
        #expect(imu(scene).contains(reason))
        #expect(!scene.takeActions().contains(.file(.discard, FeatureFile(of: Self.session), of: .tag003R)))
    }

    @Test("are one at a time, and what belongs to another session is ignored")
    func several() {
        let other = StoredMotionSession(id: MotionSessionID(session: "run-2"), byteCount: 6, crc: 1)
        let scene = MotionCommandTests.scene()
        scene.disconnect()
        scene.send("tag/003R/imu/set", #"{"action":"download","session":"run-1"}"#)
        scene.send("tag/003R/imu/set", #"{"action":"download","session":"run-2"}"#)
        scene.connect()
        for token in scene.tokens.suffix(2) {
            let sessions = TagCommandResponse.motionSessions([Self.session, other], isComplete: true)
            scene.report(.commandEnded(token: token, .success(sessions)))
        }
        #expect(scene.lastError?.code == "busy")
        scene.handle(.file(.tag003R, FeatureFile(of: other), .opened(byteCount: 0, checksum: CRC16())))
        scene.handle(.file(.tag003R, FeatureFile(of: other), .finished("/imu/2.bin")))
        #expect(imu(scene).contains(#""download":{"bytes":0,"of":6,"session":"run-1"}"#))
    }

    @Test("delete an incomplete file that has all bytes, and others")
    func wrongFile() {
        let scene = downloading()
        _ = scene.takeActions()
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .opened(byteCount: 6, checksum: CRC16())))
        #expect(scene.takeActions().contains(.file(.discard, FeatureFile(of: Self.session), of: .tag003R)))
        #expect(imu(scene).contains("the incomplete file differs from the session of the tag"))
    }

    @Test("go on for as long as the link lasts, and wait an hour for another one")
    func patience() {
        let scene = receiving(StoredMotionSession(id: Self.session.id, byteCount: 1_000, crc: 1))
        for _ in 0..<300 {
            scene.report(.motion(.data([1])))
            scene.wait(.seconds(14))
        }
        #expect(!imu(scene).contains("the link was lost for too long"))
        #expect(!scene.performed.contains(.motion(.stop)), "after 70 minutes with a link")
    }

    @Test("of a silent tag end after 15 s, and without a link after an hour")
    func silence() {
        let scene = receiving()
        scene.wait(.seconds(15))
        #expect(imu(scene).contains("the tag sends no more data"))
        let other = downloading()
        other.disconnect()
        other.wait(.seconds(3600))
        #expect(imu(other).contains("the link was lost for too long"))
    }

    @Test("are not ended by a link that came back within the hour, however long the disk takes then")
    func linkBack() {
        let scene = receiving()
        scene.disconnect()
        scene.wait(.seconds(3500))
        scene.connect()
        scene.wait(.seconds(200))
        #expect(imu(scene).contains(#""download":{"bytes":0,"of":6,"session":"run-1"}"#))
        #expect(imu(scene).contains(#""error":null"#))
    }

    @Test("erase the session only on request, and only after the file is complete")
    func erase() {
        let scene = receiving(Self.session, #","erase":true"#)
        scene.report(.motion(.data([1, 2, 3, 4, 5, 6])))
        #expect(!scene.performed.contains(.motion(.erase(Self.session.id))))
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .finished("f.bin")))
        #expect(scene.performed.last == .motion(.erase(Self.session.id)))
        scene.answer()
        #expect(scene.publications.last { $0.topic.hasSuffix("/imu/sessions") }?.text == "[]")
    }

    @Test("erase the session at the next connection if the link is lost, and say if the tag refuses")
    func eraseLater() {
        let scene = receiving(Self.session, #","erase":true"#)
        scene.report(.motion(.data([1, 2, 3, 4, 5, 6])))
        scene.disconnect()
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .finished("f.bin")))
        #expect(!scene.performed.contains(.motion(.erase(Self.session.id))))
        scene.connect()
        #expect(scene.performed.suffix(2) == [.motion(.status), .motion(.erase(Self.session.id))])
        scene.fail(.status(.busy))
        #expect(imu(scene).contains("the session was not erased: "))
    }

    @Test("have erased a session that the tag no longer has, or no longer lists after a lost answer")
    func eraseInDoubt() {
        for error in [TagCommandError.status(.badParameter), .timeout] {
            let scene = receiving(Self.session, #","erase":true"#)
            scene.report(.motion(.data([1, 2, 3, 4, 5, 6])))
            scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .finished("f.bin")))
            scene.fail(error)
            if error == .timeout {
                #expect(imu(scene).contains("the session was not erased: "))
                scene.wait(.seconds(1))
                scene.answer(.motionSessions([], isComplete: true))
            }
            #expect(scene.publications.last { $0.topic.hasSuffix("/imu/sessions") }?.text == "[]")
            #expect(imu(scene).contains(#""error":null"#) && imu(scene).contains(#""file":"f.bin""#))
        }
    }

    @Test("keep the error of an erasing whose answer was lost if the tag still lists the session")
    func notErased() {
        let scene = receiving(Self.session, #","erase":true"#)
        scene.report(.motion(.data([1, 2, 3, 4, 5, 6])))
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .finished("f.bin")))
        scene.fail(.timeout)
        scene.wait(.seconds(1))
        scene.answer(.motionSessions([Self.session], isComplete: true))
        #expect(imu(scene).contains("the session was not erased: "))
        // Another program has erased it later.
        scene.send("tag/003R/imu/sessions/get", "")
        scene.answer(.motionSessions([], isComplete: true))
        #expect(imu(scene).contains("the session was not erased: "))
    }

    @Test("go on without an answer to the request, if the data comes")
    func downloadInDoubt() {
        let scene = downloading()
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .opened(byteCount: 0, checksum: CRC16())))
        scene.report(.motion(.data([1, 2, 3, 4])))
        scene.fail(.timeout)
        #expect(imu(scene).contains(#""bytes":0,"of":6"#) && imu(scene).contains(#""error":null"#))
        scene.report(.motion(.data([5, 6])))
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .finished("f.bin")))
        #expect(imu(scene).contains(#""error":null"#) && imu(scene).contains(#""file":"f.bin""#))
        let silent = downloading()
        silent.handle(.file(.tag003R, FeatureFile(of: Self.session), .opened(byteCount: 0, checksum: CRC16())))
        silent.fail(.timeout)
        silent.wait(MotionState.silence)
        #expect(imu(silent).contains("the tag sends no more data"))
        let late = receiving()
        late.report(.motion(.data([1, 2, 3, 4, 5, 6])))
        late.handle(.file(.tag003R, FeatureFile(of: Self.session), .finished("f.bin")))
        late.report(.commandEnded(token: late.tokens.last ?? 0, .failure(.status(.busy))))
        #expect(imu(late).contains(#""error":null"#))
    }

    @Test("end with an error of the disk, and with more than 64 KiB that are not written")
    func disk() {
        let scene = downloading()
        scene.handle(.file(.tag003R, FeatureFile(of: Self.session), .failed("/imu: No space left on device")))
        #expect(imu(scene).contains("No space left on device"))
        let large = StoredMotionSession(id: Self.session.id, byteCount: 100_000, crc: 1)
        let other = receiving(large)
        for _ in 0..<65 { other.report(.motion(.data([UInt8](repeating: 1, count: 1023)))) }
        #expect(imu(other).contains("the disk is slower than the tag"))
    }

    @Test("end with the folder, which a reload takes away before or during the transfer")
    func folderTaken() {
        let scene = MotionCommandTests.scene()
        scene.send("tag/003R/imu/set", #"{"action":"download","session":"run-1"}"#)
        scene.handle(.configurationChanged(Scene.configuration(), isBrokerConnected: true))
        scene.answer(.motionSessions([Self.session], isComplete: true))
        #expect(scene.lastError?.text == "There is no folder for sessions in the configuration")
        let other = receiving()
        other.handle(.configurationChanged(Scene.configuration(), isBrokerConnected: true))
        other.report(.motion(.data([1, 2, 3])))
        #expect(imu(other).contains(#""error":"imu.folder is no longer set""#))
        #expect(other.performed.last == .motion(.stop))
    }

    @Test("a stop ends them")
    func stop() {
        let scene = receiving()
        scene.send("tag/003R/imu/set", "stop")
        scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))
        #expect(imu(scene).contains(#""download":null"#))
        _ = scene.takeActions()
        scene.report(.motion(.data([1])))
        #expect(scene.takeActions() == [])
    }

    @Test("J36: nothing is sent while motion data uses the same characteristic")
    func sharedCharacteristic() {
        guard Features.commands.contains(where: { $0.name == "raw/set" }) else { return }
        let scene = Scene.connected()
        var configuration = Scene.configuration()
        configuration.options = .allowingAllFeatures
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.send("tag/003R/imu/set", #"{"action":"stream"}"#)
        scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .logging)))
        scene.performed = []
        scene.send("tag/003R/raw/set", #"{"send":"0741"}"#)
        #expect(scene.lastError?.code == "busy" && scene.performed.isEmpty)
        scene.send("tag/003R/imu/set", "stop")
        scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))
        scene.send("tag/003R/raw/set", #"{"send":"0741"}"#)
        #expect(scene.performed.last == .sendRaw([0x07, 0x41]))
    }

    @Test("the motion sensor is in use when its module is activated, and `monitor` has words for its sessions")
    func activated() throws {
        let scene = Scene.connected()
        scene.send("tag/003R/modules/set", #"{"module":"IMUModule","action":"activate"}"#)
        var module = ModuleDescriptor.motion
        module.isEnabled = true
        let lines = scene.answer(.modules([module]))
        #expect(lines.last?.hasPrefix(#"jacquard/tag/003R/imu {"accelerometer_hz":null,"code":0"#) == true)
        let row = try #require(TagTopicTable.rows.first { $0.name == "imu/sessions" })
        #expect(row.sentence(about: [[:]]) == "has 1 recorded session")
    }

    @Test("the motion sensor is not for automations, is not recorded, and leaves no topic behind")
    func declarations() {
        #expect(!AccessTable.automationCommands.contains { $0.hasPrefix("imu/") })
        #expect(!RecordedEvent.Kind.all.contains { $0.name.hasPrefix("imu") })
        let topics = Set(TagTopicTable.all(Scene().state.topics.tag(.tag003R)))
        #expect(topics.isSuperset(of: ["jacquard/tag/003R/imu", "jacquard/tag/003R/imu/sessions"]))
    }
}

extension FeatureFile {
    /// The file of a session with the settings of ``MotionCommandTests/scene(hasFolder:)``.
    fileprivate init(of session: StoredMotionSession) {
        self.init(
            noun: "session", folder: "/sessions", limit: Limit(mebibytes: 256, key: "imu.most_mb"),
            name: "\(String(session.crc, radix: 16))-\(session.byteCount)-"
                + String(CRC16.of(session.id.session.utf8), radix: 16),
            byteCount: Int(session.byteCount), crc: session.crc,
            description: [
                "session": .string(session.id.session), "group": .string(session.id.group),
                "campaign": .string(session.id.campaign), "product": .string(session.id.product),
                "subject": .string(session.id.subject), "bytes": .integer(Int64(session.byteCount)),
                "crc": .string(String(session.crc, radix: 16)),
            ])
    }
}
