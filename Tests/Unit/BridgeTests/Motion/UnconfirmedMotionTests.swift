import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("A fact of the motion sensor that a lost response leaves unknown")
struct UnconfirmedMotionTests {
    private static func text(_ scene: Scene, _ topic: String) -> String? {
        scene.publications.last { $0.topic == "jacquard/tag/003R/" + topic }?.text
    }

    @Test("is read: the state of the motion sensor, with the recording that has begun")
    func recording() {
        let scene = Scene.connected()
        scene.send("tag/003R/imu/set", #"{"action":"record","session":"run-1"}"#)
        scene.fail(.timeout)
        scene.send("tag/003R/imu/set", "stop")
        scene.fail(.status(.invalidState))
        scene.wait(.seconds(1))
        #expect(scene.performed.last == .motion(.status))
        scene.fail(.timeout)
        scene.wait(.seconds(2))
        scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .logging)))
        let state = Self.text(scene, "imu") ?? ""
        #expect(state.contains(#""mode":"store""#) && state.contains(#""session":"run-1""#), "\(state)")
        scene.wait(.seconds(30))
        #expect(scene.performed.filter { $0 == .motion(.status) }.count == 2)
    }

    @Test("is ended: a stream that may have begun")
    func stream() {
        let scene = Scene.connected()
        scene.send("tag/003R/imu/set", "stream")
        scene.fail(.timeout)
        scene.wait(.zero)
        #expect(scene.performed.last == .motion(.stop))
    }

    @Test("is read: the sessions, of which one may be erased")
    func sessions() {
        let scene = Scene.connected()
        let session = StoredMotionSession(id: MotionSessionID(session: "run-1"), byteCount: 1, crc: 2)
        scene.send("tag/003R/imu/sessions/get", "")
        scene.answer(.motionSessions([session], isComplete: true))
        scene.send("tag/003R/imu/set", #"{"action":"erase","session":"run-1"}"#)
        scene.fail(.timeout)
        scene.wait(.seconds(1))
        #expect(scene.performed.suffix(2) == [.motion(.status), .motion(.sessions)])
        scene.answer(.motionSessions([], isComplete: true))
        #expect(Self.text(scene, "imu/sessions") == "[]")
        // They are known now, although another response is lost.
        scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))
        scene.send("tag/003R/imu/set", #"{"action":"record","session":"run-2"}"#)
        scene.fail(.timeout)
        scene.wait(.seconds(1))
        #expect(scene.performed.last == .motion(.status))
    }

    @Test("is no session: the tag refuses to erase it, and the result says so as that of a download")
    func missingSession() {
        let scene = Scene.connected()
        scene.send("tag/003R/imu/set", #"{"action":"erase","session":"run-1","id":"a"}"#)
        scene.fail(.status(.badParameter))
        #expect(scene.results.last?.id == "a")
        #expect(scene.lastError?.code == "invalid_argument")
        #expect(scene.lastError?.text == #"The tag has no session "run-1""#)
    }
}
