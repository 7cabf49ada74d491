import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("A command that waits")
struct CommandWaitingTests {
    private let led = "tag/003R/led/set"

    @Test("is sent when the tag becomes available, in order")
    func waiting() {
        let scene = Scene()
        scene.send(led, #"{"state":"ON","id":"1"}"#)
        scene.send("tag/003R/haptic/set", "short")
        #expect(scene.performed == [])
        scene.wait(.seconds(9))
        scene.connect()
        #expect(scene.performed.count == 2)
        #expect(
            scene.performed.first
                == .playLEDPattern(.predefined(.solid, color: .white, durationMilliseconds: 10_000), on: .tag))
        scene.wait(.seconds(20))
        #expect(scene.results.allSatisfy { $0.status == "accepted" })
    }

    @Test(
        "expires after ten seconds, or after its own lifetime", arguments: [("", 10_000), (#","ttl_ms":1500"#, 1_500)])
    func expiry(key: String, milliseconds: Int) {
        let scene = Scene()
        scene.send(led, #"{"state":"ON"\#(key)}"#)
        scene.wait(.milliseconds(milliseconds - 1))
        #expect(scene.lastError == nil)
        scene.wait(.milliseconds(1))
        #expect(
            scene.lastError
                == ResultError(
                    code: "expired",
                    text: "Tag 003R did not become reachable within ttl_ms (\(milliseconds)); nothing was sent",
                    hint: "not seen since the bridge started", retryable: true))
        #expect(scene.results.last?.tookMilliseconds == milliseconds)
        scene.connect()
        #expect(scene.performed == [])
        #expect(scene.state.deadline == nil)
    }

    @Test("that waits for a tag of another program expires with that error", arguments: [0, 1_500])
    func inUse(milliseconds: Int) {
        let scene = Scene.connected()
        let error = TagConnectionError(.inUse, "another program on this host uses the device")
        scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1, error: error)))
        scene.send(led, #"{"state":"ON","ttl_ms":\#(milliseconds)}"#)
        scene.wait(.milliseconds(milliseconds))
        #expect(scene.lastError?.code == "in_use")
        #expect(scene.lastError?.retryable == true)
        #expect(scene.lastError?.hint?.contains("Stop the other program") == true)
    }

    @Test("with a lifetime of 0 fails at once, and the error says when the tag was last seen")
    func noWaiting() {
        let scene = Scene.connected()
        scene.disconnect()
        for (seconds, hint) in [
            (0, "last seen 0 s ago"), (119, "last seen 119 s ago"), (601, "last seen 12 min ago"),
            (7_200, "last seen 2 h ago"),
        ] {
            scene.now = scene.now + .seconds(seconds)
            scene.send(led, #"{"state":"ON","ttl_ms":0}"#)
            #expect(
                scene.lastError
                    == ResultError(code: "tag_offline", text: "Tag 003R is not connected", hint: hint, retryable: true))
        }
    }

    @Test("with a lifetime of 0 fails because of Bluetooth if that is off")
    func noWaitingForBluetooth() {
        let scene = Scene.connected()
        scene.disconnect()
        scene.handle(.bluetooth(.poweredOff))
        scene.send(led, #"{"state":"ON","ttl_ms":0}"#)
        #expect(
            scene.lastError
                == ResultError(
                    code: "tag_offline", text: "Bluetooth is powered off, so tag 003R is not connected",
                    hint: "Switch Bluetooth on; `jacquard2mqtt doctor` shows what is wrong", retryable: true))
    }

    @Test("is told to wait while Bluetooth starts, and to switch it on while it is off")
    func bluetoothHints() {
        for state in AdapterFacts.State.allCases where state != .poweredOn {
            let isStarting = state == .unknown || state == .resetting
            let hint = CommandObstacle.bluetooth(state).hint
            #expect(hint.hasPrefix(isStarting ? "Wait a moment; " : "Switch Bluetooth on; "), "\(state)")
        }
    }

    @Test("fails when the tag refuses the connection, and does not wait in vain")
    func refused() {
        let scene = Scene.connected()
        let error = TagConnectionError(.peerRemovedPairingInfo, "the tag has lost its bond")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        scene.send(led, "on")
        scene.send("tag/003R/connection/set", "connect")
        #expect(scene.lastError == nil, "a new attempt is made for them")
        scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        let failure = ResultError(
            code: "tag_offline", text: "Tag 003R cannot be connected: the tag has lost its bond",
            hint: TagConnectionError.Code.peerRemovedPairingInfo.hint, retryable: false)
        #expect(scene.results.suffix(2).map(\.error) == [failure, failure])
        #expect(scene.performed == [])
        scene.send(led, #"{"state":"ON","ttl_ms":0}"#)
        #expect(scene.lastError == failure)
    }

    @Test("waits for Bluetooth while it is off")
    func bluetoothOff() {
        let scene = Scene.connected()
        scene.send(led, "on")
        let error = TagConnectionError(.bluetoothPowerOff, "Bluetooth is off")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        scene.fail(.notConnected)
        scene.connect()
        #expect(scene.performed.count == 2)
    }

    @Test(
        "is refused by each error that ends the attempts, except that Bluetooth is off",
        arguments: TagConnectionError.Code.allCases)
    func finalError(code: TagConnectionError.Code) {
        let scene = Scene(tags: [.tag003R])
        scene.powerOn()
        scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
        scene.send(led, "on")
        let error = TagConnectionError(code, "no more attempts")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        #expect((scene.lastError == nil) == (code == .bluetoothPowerOff))
        guard code == .bluetoothPowerOff else { return }
        scene.connect()
        #expect(scene.performed.count == 1)
    }

    @Test("does not expire after it was sent")
    func sent() {
        let scene = Scene.connected()
        scene.send(led, #"{"state":"ON","ttl_ms":0}"#)
        scene.wait(.seconds(8))
        scene.answer()
        #expect(scene.results.map(\.status) == ["accepted", "ok"])
    }

    @Test("waits again when the tag was disconnected before it was sent")
    func gone() {
        let scene = Scene.connected()
        scene.send(led, "on")
        scene.disconnect()
        #expect(scene.fail(.notConnected) == [])
        scene.connect()
        #expect(scene.performed.count == 2)
        scene.answer()
        #expect(scene.results.map(\.status) == ["ok"])
    }

    @Test("is retried after a pause when a connected tag did not accept it")
    func back() {
        let scene = Scene.connected()
        scene.send(led, "on")
        scene.disconnect()
        scene.connect()
        #expect(scene.fail(.notConnected) == [])
        scene.wait(.milliseconds(99))
        #expect(scene.performed.count == 1)
        scene.wait(.milliseconds(1))
        #expect(scene.performed.count == 2)
        scene.answer()
        #expect(scene.results.map(\.status) == ["ok"])
    }

    @Test("expires when it was never sent")
    func neverSent() {
        let scene = Scene.connected()
        scene.send(led, #"{"state":"ON","ttl_ms":250}"#)
        for _ in 0..<3 {
            scene.fail(.notConnected)
            scene.wait(.milliseconds(100))
        }
        #expect(scene.lastError?.code == "expired")
        scene.send(led, #"{"state":"ON","ttl_ms":0}"#)
        scene.fail(.notConnected)
        #expect(scene.lastError?.code == "tag_offline")
    }

    @Test("says in the accepted result what it waits for, and in the final one why it expired")
    func obstacles() {
        let scene = Scene()
        scene.powerOn()
        scene.send(led, #"{"state":"ON"}"#)
        #expect(
            scene.wait(.milliseconds(250)).first?.contains(
                #""data":{"hint":"not seen since the bridge started","text":"The tag is not connected","#
                    + #""waiting_for":"connection"}"#) == true)
        scene.wait(.seconds(10))
        scene.handle(.bluetooth(.poweredOff))
        scene.send(led, #"{"state":"ON","ttl_ms":1000}"#)
        let hint = "Switch Bluetooth on; `jacquard2mqtt doctor` shows what is wrong"
        #expect(
            scene.wait(.milliseconds(250)).first?.contains(
                #""data":{"hint":"\#(hint)","text":"Bluetooth is powered off","waiting_for":"bluetooth_off"}"#) == true)
        let lines = scene.wait(.milliseconds(750))
        #expect(
            lines.first?.contains(
                #""error":{"code":"expired","hint":"\#(hint)","reason":"bluetooth_off","retryable":true,"text":"#
                    + #""Bluetooth is powered off, so tag 003R did not become reachable within ttl_ms (1000); "#
                    + #"nothing was sent"}"#) == true)
    }

    @Test("gets one accepted result when the response takes longer than 250 ms")
    func accepted() {
        let scene = Scene.connected()
        scene.send(led, #"{"state":"ON","id":"a"}"#)
        #expect(scene.wait(.milliseconds(249)) == [])
        #expect(
            scene.wait(.milliseconds(1)) == [
                #"jacquard/tag/003R/led/result {"bridge":"attic","data":{},"error":null,"final":false,"id":"a","#
                    + #""status":"accepted","time":"2026-11-20T10:15:02.364Z","took_ms":250}"#
            ])
        #expect(scene.wait(.seconds(1)) == [])
        scene.answer()
        #expect(scene.results.map(\.final) == [false, true])
    }

    @Test(
        "gets an error for an invalid ttl_ms",
        arguments: [("-1", "-1"), ("86400001", "86400001"), (#""1 s""#, #""1 s""#)])
    func wrongTime(value: String, shown: String) {
        let scene = Scene()
        scene.send(led, #"{"state":"ON","id":"a","ttl_ms":\#(value)}"#)
        #expect(scene.lastError?.text == #""ttl_ms" is \#(shown); it may be 0 to 86400000"#)
        #expect(scene.results.last?.id == "a")
    }

    @Test("has no pause left when it is sent before its end")
    func sentWithinPause() {
        let scene = Scene.connected()
        scene.send(led, "on")
        scene.fail(.notConnected)
        scene.wait(.milliseconds(50))
        scene.disconnect()
        scene.connect()
        #expect(scene.performed.count == 2)
        #expect(scene.state.deadline == Scene.beginning.instant + Duration.milliseconds(250))
    }
}

@Suite("MQTT 5")
struct MQTT5Tests {
    private func message(
        _ payload: String = "on", response: String? = nil, expiry: UInt32? = nil
    ) -> MQTTMessage {
        MQTTMessage(
            topic: "jacquard/tag/003R/led/set", payload: Array(payload.utf8), messageExpirySeconds: expiry,
            responseTopic: response, correlationData: [1, 2, 3])
    }

    @Test("gets the result on the response topic too, with the correlation data")
    func response() {
        let scene = Scene.connected()
        scene.receive(message(response: "me/answers"))
        scene.wait(.seconds(1))
        scene.answer()
        let results = scene.publications.filter { $0.topic.hasSuffix("result") || $0.topic == "me/answers" }
        #expect(
            results.map(\.topic) == [
                "jacquard/tag/003R/led/result", "me/answers", "jacquard/tag/003R/led/result", "me/answers",
            ])
        #expect(results.map(\.message.correlationData) == [nil, [1, 2, 3], nil, [1, 2, 3]])
        #expect(results.map(\.isForRequester) == [false, true, false, true])
        #expect(results[2].payload == results[3].payload)
    }

    @Test(
        "message expiry limits the lifetime like ttl_ms, and the shorter one applies",
        arguments: [
            ("on", 3, 3_000), ("on", 60, 60_000), ("on", 0, 0), (#"{"state":"ON","ttl_ms":500}"#, 3, 500),
            (#"{"state":"ON","ttl_ms":5000}"#, 3, 3_000), ("on", UInt32.max, 86_400_000),
        ] as [(String, UInt32, Int)])
    func expiry(payload: String, seconds: UInt32, milliseconds: Int) {
        let scene = Scene()
        scene.receive(message(payload, expiry: seconds))
        scene.wait(.milliseconds(milliseconds - 1))
        #expect(scene.lastError?.code == (milliseconds == 0 ? "tag_offline" : nil))
        scene.wait(.milliseconds(1))
        #expect(scene.lastError?.code == (milliseconds == 0 ? "tag_offline" : "expired"))
    }
}
