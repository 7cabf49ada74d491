import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("A repeated command")
struct RepeatedCommandTests {
    private let led = "tag/003R/led/set"
    private let payload = #"{"state":"ON","id":"again"}"#

    @Test("gets the stored result, byte for byte, for a minute")
    func stored() {
        let scene = Scene.connected()
        scene.send(led, payload)
        let first = scene.answer().first
        scene.now = scene.now + .milliseconds(59_999)
        #expect(scene.send(led, payload) == [first])
        #expect(scene.performed.count == 1)
        scene.now = scene.now + .milliseconds(1)
        #expect(scene.send(led, payload) == [])
        #expect(scene.performed.count == 2)
    }

    @Test("is executed once while the first is pending, and each sender gets one final result")
    func underWay() {
        let scene = Scene.connected()
        scene.send(led, payload)
        scene.wait(.milliseconds(200))
        scene.receive(
            MQTTMessage(
                topic: "jacquard/" + led, payload: Array(payload.utf8), responseTopic: "me", correlationData: [7]))
        scene.wait(.milliseconds(50))
        #expect(scene.publications.last?.topic == "jacquard/tag/003R/led/result")
        scene.answer()
        #expect(scene.performed.count == 1)
        #expect(scene.results.filter(\.final).count == 3)
        #expect(scene.publications.filter { $0.topic == "me" }.map(\.message.correlationData) == [[7]])
    }

    @Test("gets the stored error too")
    func error() {
        let scene = Scene()
        scene.send(led, #"{"state":"ON","id":"again","ttl_ms":0}"#)
        scene.connect()
        scene.send(led, payload)
        #expect(scene.results.map(\.error?.code) == ["tag_offline", "tag_offline"])
        #expect(scene.performed == [])
    }

    @Test("is another command on another topic, or without an id")
    func otherTopic() {
        let scene = Scene.connected()
        scene.send(led, payload)
        scene.send("tag/003R/battery/get", #"{"id":"again"}"#)
        scene.send(led, "on")
        scene.send(led, "on")
        #expect(scene.performed.count == 4)
    }

    @Test("waits for the first although the queue is full, and takes no room in it")
    func fullQueue() {
        let scene = Scene.connected(commandsPerTag: 2)
        for _ in 0..<3 { scene.send(led, payload) }
        scene.send(led, "red")
        #expect(scene.results == [])
        scene.send(led, "blue")
        #expect(scene.results.map(\.error?.code) == ["busy"])
        scene.send(led, payload)
        #expect(scene.performed.count == 2)
        scene.report(.commandEnded(token: scene.tokens[0], .success(.done)))
        #expect(scene.results.filter(\.final).map(\.id) == [nil] + Array(repeating: "again", count: 4))
    }

    @Test("is refused if too many repetitions are pending, which is not the result of the command")
    func bound() {
        let scene = Scene.connected()
        for _ in 0...PendingCommands.mostRepetitions { scene.send(led, payload) }
        #expect(scene.results == [])
        scene.send(led, payload)
        #expect(scene.results.map(\.error?.code) == ["busy"])
        scene.answer()
        scene.send(led, payload)
        #expect(scene.results.last?.status == "ok")
        #expect(scene.performed.count == 1)
    }

    @Test("with another, invalid payload does not replace the result of the first")
    func invalidRepetition() {
        let scene = Scene.connected()
        scene.send(led, payload)
        scene.send(led, #"{"state":"ON","id":"again","ttl_ms":"soon"}"#)
        #expect(scene.results.map(\.error?.code) == ["invalid_argument"])
        scene.answer()
        scene.send(led, payload)
        #expect(scene.results.filter(\.final).map(\.error?.code) == ["invalid_argument", nil, nil])
        #expect(scene.performed.count == 1)
    }

    @Test("has an id of at most 64 bytes", arguments: [(64, true), (65, false)])
    func longID(length: Int, isGood: Bool) {
        let scene = Scene.connected()
        let id = String(repeating: "i", count: length)
        scene.send(led, #"{"state":"ON","id":"\#(id)"}"#)
        scene.answer()
        #expect(scene.results.map(\.id) == [isGood ? id : nil])
        #expect((scene.lastError?.code == "invalid_argument") == !isGood)
    }

    @Test("is executed again after thousands of other results: the store is bounded")
    func memory() {
        let key = StoredResults.Key(resultTopic: "t", id: "0")
        let now = Scene.beginning.instant
        var answered = StoredResults()
        answered.store([1], for: key, at: now)
        for number in 1..<StoredResults.maxCount {
            answered.store([2], for: .init(resultTopic: "t", id: "\(number)"), at: now)
        }
        #expect(answered.result(for: key, at: now) == [1])
        answered.store([3], for: .init(resultTopic: "t", id: "one more"), at: now)
        #expect(answered.result(for: key, at: now) == nil)
    }
}
