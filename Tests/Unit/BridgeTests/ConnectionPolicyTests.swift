import JacquardProtocol
import Testing

@testable import Bridge

extension TagEntry {
    fileprivate static func tag003R(_ policy: ConnectPolicy) -> TagEntry {
        TagEntry(id: .tag003R, serial: "003R", connect: policy)
    }
}

@Suite("Connection intent")
struct ConnectionPolicyTests {
    private let connection = "tag/003R/connection/set"
    private let gone = TagEvent.connection(TagConnection(state: .disconnected, attempt: 1))

    @Test("the configuration: always, without limit; on demand and never, not at the start")
    func start() {
        for (policy, expected) in [
            (.always, [.connect(.tag003R)]), (.onDemand, []), (.never, []),
        ] as [(TagEntry.ConnectPolicy, [BridgeAction])] {
            let scene = Scene(tags: [.tag003R(policy)])
            #expect(scene.state.handle(.started, at: scene.now).contains(.connect(.tag003R)) == false)
            scene.powerOn()
            #expect(scene.takeActions() == expected)
        }
    }

    @Test("connections are requested again at every change of Bluetooth")
    func again() {
        let scene = Scene()
        for state in [AdapterFacts.State.unknown, .poweredOn, .poweredOff, .poweredOn] {
            scene.handle(.bluetooth(state))
            #expect(scene.takeActions() == [.connect(.tag003R)])
        }
    }

    @Test(
        "a request of the user connects a tag whose connection has ended for good, and repeats nothing otherwise",
        arguments: [TagConnection.State.preparingToConnect, .connecting(step: 2), .connected, .disconnected])
    func afterTheEnd(state: TagConnection.State) {
        let isOver = state == .disconnected
        let error = isOver ? TagConnectionError(.peerRemovedPairingInfo, "the tag has lost its bond") : nil
        for (topic, payload) in [("connection/set", "connect"), ("led/set", "on")] {
            let scene = Scene()
            scene.powerOn()
            scene.report(.connection(TagConnection(state: state, attempt: 1, error: error)))
            _ = scene.takeActions()
            scene.send("tag/003R/" + topic, payload)
            #expect(scene.takeActions() == (isOver ? [.connect(.tag003R)] : []), "\(topic)")
        }
    }

    private let lost = TagEvent.connection(
        TagConnection(
            state: .preparingToConnect, attempt: 1,
            error: TagConnectionError(.bluetoothConnectionError, "the link was lost")))

    /// A connected tag that was sent to sleep.
    private func sleepy(_ payload: String = #"{"timeout_s":5}"#) -> Scene {
        let scene = Scene.connected()
        scene.powerOn()
        scene.send("tag/003R/sleep/set", payload)
        scene.answer()
        _ = scene.takeActions()
        return scene
    }

    @Test("a loss of the link long before the requested sleep is an ordinary one")
    func lostBeforeSleep() {
        let scene = sleepy(#"{"timeout_s":600}"#)
        scene.wait(.seconds(3))
        scene.report(lost)
        #expect(scene.takeActions() == [])
        #expect(scene.state.tags[0].link.failure != nil)
    }

    @Test(
        "a tag that connects on demand and could not be connected is available again once it is received",
        arguments: [TagConnectionError.Code.connectionTimeout, .bluetoothPowerOff, .peerRemovedPairingInfo])
    func failedOnDemand(code: TagConnectionError.Code) {
        let scene = Scene(tags: [.tag003R(.onDemand)])
        scene.powerOn()
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":\#(code == .bluetoothPowerOff ? 60000 : 1000)}"#)
        let state: TagConnection.State = code == .connectionTimeout ? .preparingToConnect : .disconnected
        scene.report(.connection(TagConnection(state: state, attempt: 1, error: TagConnectionError(code, "no"))))
        scene.handle(.sighting(.tag003R, TagSighting(rssi: -50)))
        scene.wait(.seconds(31))
        if code == .connectionTimeout { scene.report(gone) }
        #expect(!scene.state.tags[0].link.isAvailable)
        if code == .bluetoothPowerOff {
            scene.handle(.bluetooth(.poweredOff))
            scene.handle(.bluetooth(.poweredOn))
        } else {
            scene.handle(.sighting(.tag003R, TagSighting(rssi: -50)))
        }
        #expect(scene.state.tags[0].link.isAvailable == (code != .peerRemovedPairingInfo))
    }

    @Test(
        "a tag that was paired is disconnected unless it is to be connected",
        arguments: [TagEntry.ConnectPolicy.never, .onDemand, .always])
    func paired(policy: TagEntry.ConnectPolicy) {
        let scene = Scene(tags: [.tag003R(policy)])
        scene.powerOn()
        scene.send("bridge/attic/request/pair", "003R")
        scene.report(.connection(TagConnection(state: .connected, attempt: 1)))
        _ = scene.takeActions()
        scene.done(.paired(address: "F0:01", name: nil))
        #expect(scene.takeActions().contains(.disconnect(.tag003R)) == (policy == .never))
        scene.wait(.seconds(30))
        #expect(scene.takeActions().contains(.disconnect(.tag003R)) == (policy == .onDemand))
    }

    @Test("a tag that was sent to sleep is left alone for 70 s from the end of its link")
    func sleep() {
        let scene = sleepy()
        scene.wait(.seconds(5))
        scene.report(lost)
        #expect(scene.takeActions() == [.disconnect(.tag003R)])
        scene.report(gone)
        scene.wait(.seconds(70) - .milliseconds(1))
        #expect(scene.takeActions() == [])
        scene.wait(.milliseconds(1))
        #expect(scene.takeActions() == [.connect(.tag003R)])
    }

    @Test(
        "a tag that was sent to sleep is connected for a command, or by the user",
        arguments: ["led/set", "connection/set"])
    func wake(topic: String) {
        let scene = sleepy()
        scene.report(lost)
        scene.report(gone)
        _ = scene.takeActions()
        scene.send("tag/003R/" + topic, topic == "led/set" ? "on" : "connect")
        #expect(scene.takeActions().contains(.connect(.tag003R)))
    }

    @Test("a tag that sleeps says in its connection how it wakes")
    func wakes() {
        let scene = Scene.announced()
        scene.powerOn()
        scene.report(.connection(TagConnection(state: .connected, attempt: 1)))
        scene.send("tag/003R/sleep/set", #"{"wake_on_motion":true}"#)
        scene.answer()
        let lines = scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
        #expect(
            lines.contains {
                $0.contains(
                    #""why":"not connected, because it was sent to sleep. Touch it or move it; it advertises for one minute then""#
                )
            })
    }

    @Test("a tag that stays disconnected is held, whatever its error, and one that sleeps or is on demand is not")
    func held() {
        let scene = Scene.announced()
        func held(_ lines: [String]) -> [Bool] {
            lines.filter { $0.hasPrefix("jacquard/tag/003R/connection ") }.map { $0.contains(#""held":true"#) }
        }
        let error = TagConnectionError(.peerRemovedPairingInfo, "the tag has lost its bond")
        #expect(
            held(scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))) == [false])
        #expect(held(scene.send("tag/003R/connection/set", "disconnect")) == [true])
        #expect(held(scene.send("tag/003R/connection/set", "connect")) == [false])
        var entry = TagEntry.tag003R
        entry.connect = .never
        #expect(held(scene.handle(.tagChanged(entry))).last == true)
        entry.connect = .onDemand
        #expect(held(scene.handle(.tagChanged(entry))).last == false)
    }

    @Test("a tag that falls asleep is connected again for a command that was not sent before")
    func commandBeforeSleep() {
        let scene = sleepy()
        scene.send("tag/003R/led/set", "on")
        let token = scene.tokens.last ?? 0
        scene.wait(.seconds(5))
        scene.report(.commandEnded(token: token, .failure(.notConnected)))
        scene.report(lost)
        scene.report(gone)
        #expect(scene.takeActions().filter { $0 != .disconnect(.tag003R) }.allSatisfy { $0 == .connect(.tag003R) })
        #expect(scene.state.tags.first?.link.intent.isWanted == true)
    }

    @Test("a tag that wakes on motion, or whose link ends much later, is not left alone")
    func noSleep() {
        let moving = sleepy(#"{"timeout_s":5,"wake_on_motion":true}"#)
        moving.report(lost)
        #expect(moving.takeActions() == [])
        let late = sleepy()
        late.wait(.seconds(16))
        late.report(lost)
        #expect(late.takeActions() == [])
    }

    @Test(
        "the end of the link of a tag that was sent to sleep is no failure",
        arguments: [true, false], [TagEntry.ConnectPolicy.always, .onDemand])
    func sleepIsNoFailure(wakesOnMotion: Bool, policy: TagEntry.ConnectPolicy) throws {
        let scene = Scene.connected(tags: [.tag003R(policy)])
        scene.powerOn()
        scene.send("tag/003R/sleep/set", #"{"wake_on_motion":\#(wakesOnMotion)}"#)
        scene.answer()
        let lines = scene.report(lost)
        #expect(lines.contains { $0.contains(#"/connection {"#) && $0.contains(#""error":null"#) })
        scene.report(gone)
        #expect(scene.state.tags[0].link.failure == nil)
        // A command connects it, unless only motion wakes it.
        #expect(scene.state.tags[0].link.isAvailable == (policy == .onDemand && !wakesOnMotion))
    }

    @Test("the link of a tag that is to sleep at once may end before the response, but not that of a later sleep")
    func sleepWithoutResponse() {
        for (seconds, status) in [(0, "ok"), (5, "error")] {
            let scene = Scene.connected()
            scene.powerOn()
            scene.send("tag/003R/sleep/set", #"{"timeout_s":\#(seconds)}"#)
            _ = scene.takeActions()
            let result = scene.fail(.linkLost)
            #expect(result.contains { $0.contains(#""status":"\#(status)""#) })
            scene.report(lost)
            #expect((scene.takeActions() == [.disconnect(.tag003R)]) == (seconds == 0))
        }
    }

    @Test("the user: after disconnect, commands are not permitted until connect")
    func hold() {
        let scene = Scene.connected()
        scene.powerOn()
        _ = scene.takeActions()
        #expect(scene.send(connection, "disconnect").allSatisfy { $0.contains(#""held":true"#) })
        let held = TagRecord(id: .tag003R, serial: "003R", isHeld: true)
        #expect(scene.takeActions() == [.disconnect(.tag003R), .remember(held)])
        #expect(
            scene.report(gone).last
                == #"jacquard/tag/003R/connection/result {"bridge":"attic","data":{"state":"disconnected"},"#
                + #""error":null,"final":true,"id":null,"status":"ok","time":"2026-11-20T10:15:02.114Z","took_ms":0}"#)
        scene.send("tag/003R/led/set", "on")
        #expect(
            scene.lastError
                == ResultError(
                    code: "not_permitted", text: "Tag 003R was disconnected by the user",
                    hint: "Publish connect to the tag's connection/set, or run jacquard2mqtt connection 003R connect",
                    retryable: false))
        scene.powerOn()
        #expect(scene.takeActions() == [])
        scene.send(connection, #"{"connection":"connect","id":"c"}"#)
        #expect(
            scene.takeActions() == [.connect(.tag003R), .remember(TagRecord(id: .tag003R, serial: "003R"))])
        scene.connect()
        #expect(scene.results.last?.id == "c")
        #expect(scene.results.last?.status == "ok")
    }

    @Test("a tag that the user has disconnected stays so across restarts")
    func restart() {
        let record = TagRecord(id: .tag003R, serial: "003R", address: "F0", name: "Sleeve", isHeld: true)
        let scene = Scene(records: [record])
        let lines = scene.handle(.started)
        #expect(lines.contains { $0.contains(#""state":"disconnected""#) })
        #expect(lines.contains { $0.contains(#""address":"F0""#) && $0.contains(#""tag_name":"Sleeve""#) })
        scene.powerOn()
        #expect(scene.takeActions() == [])
        scene.send(connection, "disconnect")
        #expect(scene.results.last?.status == "ok")
    }

    @Test("queued commands fail at a disconnect command, and a queued disconnect at a connect command")
    func vain() {
        let scene = Scene()
        scene.powerOn()
        scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"led"}"#)
        scene.send(connection, #"{"connection":"connect","id":"up"}"#)
        scene.send(connection, #"{"connection":"disconnect","id":"down"}"#)
        #expect(scene.results.map(\.id) == ["led", "up"])
        #expect(scene.results.allSatisfy { $0.error?.code == "not_permitted" })
        scene.send(connection, "connect")
        #expect(scene.results.last?.id == "down")
        #expect(scene.lastError?.text == "Cancelled by a later connect command")
    }

    @Test("a tag whose connection was never requested is disconnected at once")
    func beforeBluetooth() {
        let scene = Scene()
        #expect(scene.send(connection, "disconnect").last?.contains(#""status":"ok""#) == true)
        #expect(scene.publications.contains { $0.text.contains(#""state":"disconnected""#) })
    }

    @Test("connect succeeds for a connected tag; for an absent one it expires, and the search continues")
    func connect() {
        let scene = Scene.connected()
        #expect(scene.send(connection, "connect").count == 1)
        scene.disconnect()
        scene.send(connection, "connect")
        scene.wait(.seconds(10))
        #expect(scene.lastError?.code == "expired")
        #expect(!scene.takeActions().contains(.disconnect(.tag003R)))
    }

    @Test("a disconnect that takes too long fails with timeout, and stays in force")
    func slowDisconnect() {
        let scene = Scene.connected()
        scene.send(connection, "disconnect")
        scene.wait(.seconds(10))
        #expect(scene.lastError?.code == "timeout")
        scene.report(gone)
        scene.send("tag/003R/led/set", "on")
        #expect(scene.lastError?.code == "not_permitted")
    }

    @Test("connect requests a tag again whose last attempt has failed finally")
    func lostBond() {
        let scene = Scene()
        scene.powerOn()
        let error = TagConnectionError(.peerRemovedPairingInfo, "No bond")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        _ = scene.takeActions()
        scene.send(connection, "connect")
        #expect(scene.takeActions() == [.connect(.tag003R)])
    }

    @Test(
        "the values are connect and disconnect",
        arguments: [
            ("off", #""payload" is "off"; it may be connect, disconnect"#),
            ("", #""connection" is missing; it may be connect, disconnect"#),
            (#"{"connection":true}"#, #""connection" is true; it may be connect, disconnect"#),
        ])
    func words(payload: String, text: String) {
        let scene = Scene.connected()
        scene.send(connection, payload)
        #expect(scene.lastError?.text == text)
    }

    @Test("the policy never takes precedence over commands")
    func never() {
        let scene = Scene(tags: [.tag003R(.never)])
        scene.send(connection, "connect")
        #expect(scene.lastError?.code == "not_permitted")
        scene.send(connection, "disconnect")
        #expect(scene.results.last?.status == "ok")
    }

    @Test("a command with a lifetime of 0 is not permitted while the user has disconnected the tag")
    func heldWithoutWaiting() {
        let scene = Scene.connected()
        scene.send(connection, "disconnect")
        scene.report(gone)
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0}"#)
        #expect(scene.lastError?.code == "not_permitted")
    }

    @Test("a disconnected tag keeps its time when the bridge stops")
    func sinceAtStop() {
        let scene = Scene.connected()
        scene.send(connection, "disconnect")
        scene.wait(.seconds(5))
        let lost = scene.now.text
        scene.report(gone)
        scene.wait(.seconds(5))
        let last = scene.handle(.stopping).last { $0.hasPrefix("jacquard/tag/003R/connection ") }
        #expect(last?.contains(#""since":"\#(lost)""#) == true)
    }
}
