import Testing
import Time

@testable import Bridge

@Suite("Repetitions of the bridge's state at a node of a cluster")
struct StateRemindersTests {
    private let state = "jacquard/bridge/attic/state online"

    /// The publications of the bridge at each of its deadlines within a minute.
    private func repetitions(_ scene: Scene) -> [Duration] {
        let begin = scene.now.instant
        var times: [Duration] = []
        while let deadline = scene.state.deadline, deadline <= begin + .seconds(60) {
            if scene.wait(deadline - scene.now.instant).contains(state) { times.append(scene.now.instant - begin) }
        }
        return times
    }

    @Test("follow each connection at 2, 6, 15 and 40 s")
    func connection() {
        let scene = Scene.connected()
        scene.handle(.brokerProtocol(4, node: "north.lan:1883"))
        let times = [repetitions(scene), repetitions(scene)]
        #expect(times == [[2, 6, 15, 40].map { .seconds($0) }, []])
    }

    @Test("follow a late will, which is also answered at once")
    func will() {
        let scene = Scene.connected()
        scene.handle(.brokerProtocol(4, node: "north.lan:1883"))
        _ = repetitions(scene)
        scene.send("bridge/attic/state", "online")
        let answer = scene.send("bridge/attic/state", "offline")
        #expect(answer == [state])
        let times = repetitions(scene)
        #expect(times == [2, 6, 15, 40].map { .seconds($0) })
    }

    @Test("don't occur with one broker, nor after the change to one")
    func oneBroker() {
        let scene = Scene.connected()
        scene.handle(.brokerProtocol(5, node: nil))
        var times = repetitions(scene)
        scene.send("bridge/attic/state", "online")
        let answer = scene.send("bridge/attic/state", "offline")
        #expect(answer == [state])
        times += repetitions(scene)
        scene.handle(.brokerProtocol(4, node: "north.lan:1883"))
        scene.handle(.brokerProtocol(5, node: nil))
        times += repetitions(scene)
        #expect(times.isEmpty)
    }

    @Test("that were missed are made once")
    func late() {
        var reminders = StateReminders()
        let start = Instant(sinceBoot: .seconds(100))
        reminders.start(at: start)
        let due = [1, 20, 20, 40, 41].map { reminders.takeDue(at: start + .seconds($0)) }
        #expect(due == [false, true, false, true, false])
        #expect(reminders.deadline == nil)
    }
}
