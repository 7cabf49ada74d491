import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("request/forget")
struct ForgetTests {
    private let topic = "bridge/attic/request/forget"
    private static let retained =
        [
            "availability", "connection", "battery", "battery/level", "battery/forecast", "gear", "info", "touch_mode",
            "led", "rssi", "stats", "modules",
        ] + Features.topics.facts { $0 == .always }

    private func scene() -> Scene {
        let scene = Scene.connected()
        scene.powerOn()
        _ = scene.takeActions()
        return scene
    }

    @Test("removes the bond, then discovery, and a second later every retained topic; then publishes the result")
    func order() {
        let scene = scene()
        #expect(scene.send(topic, #"{"id":"003R"}"#) == [])
        #expect(scene.takeActions() == [.forget(.tag003R, token: 1)])
        let lines = scene.done()
        #expect(scene.takeActions() == [.disconnect(.tag003R), .removeTag(.tag003R), .forgetRecord(.tag003R)])
        #expect(lines.count == 3)
        #expect(lines.first?.contains(#""type":"tag_forgotten""#) == true)
        #expect(lines[1].contains(#""tags":[]"#) == true)
        #expect(lines.last == #"jacquard/bridge/attic/tags {"connected":0,"known":0}"#)
        let before = scene.publications.count
        scene.wait(.milliseconds(999))
        #expect(scene.publications[before...].allSatisfy { $0.topic.hasSuffix("response/forget") })
        let rest = scene.wait(.milliseconds(1))
        #expect(rest.dropLast() == Self.retained.map { "jacquard/tag/003R/\($0) " }[...])
        let result = #"""
            jacquard/bridge/attic/response/forget {"bridge":"attic","data":{"configured":true,"id":"003R","note":\#
            "The configuration still lists this tag; the bridge ignores it until the next start or reload",\#
            "serial":"003R"},"error":null,"final":true,"id":"003R","status":"ok",\#
            "time":"2026-11-20T10:15:03.114Z","took_ms":1000}
            """#
        #expect(rest.last == result)
        #expect(
            scene.publications.suffix(Self.retained.count).dropLast().allSatisfy {
                $0.message.isRetained && $0.message.qos == .atLeastOnce
            })
        #expect(scene.state.deadline == nil)
    }

    @Test("ignores the tag afterwards: no publications, and commands for it are unknown")
    func alone() {
        let scene = scene()
        scene.send(topic, "003R")
        scene.done()
        _ = scene.takeActions()
        #expect(scene.report(.connection(TagConnection(state: .disconnected, attempt: 1))) == [])
        scene.powerOn()
        #expect(scene.takeActions() == [])
        scene.send("tag/003R/led/set", "on")
        #expect(scene.lastError?.code == "unknown_tag")
    }

    @Test("that Bluetooth refuses connects the tag again, which stays known, unless the user has disconnected it")
    func refused() {
        for isHeld in [false, true] {
            let scene = scene()
            if isHeld { scene.send("tag/003R/connection/set", "disconnect") }
            _ = scene.takeActions()
            scene.send(topic, "003R")
            _ = scene.takeActions()
            scene.notDone(.refused(name: "org.bluez.Error.Failed", text: "no"))
            #expect(scene.lastError?.code == "tag_error")
            #expect(scene.takeActions() == (isHeld ? [] : [.connect(.tag003R)]))
            #expect(scene.state.tags.count == 1)
        }
    }

    @Test("that needs a radio which is off says so")
    func radioOff() {
        let scene = scene()
        scene.send(topic, "003R")
        scene.notDone(.radioUnavailable(text: "Radio loft cannot be used, and has a bond with the tag"))
        #expect(scene.lastError?.code == "not_permitted")
        #expect(scene.lastError?.text == "Radio loft cannot be used, and has a bond with the tag")
    }

    @Test("ends the tag's commands, each with one result")
    func commands() {
        let scene = scene()
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"sent"}"#)
        scene.disconnect()
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"waiting"}"#)
        scene.send(topic, "003R")
        scene.done()
        #expect(scene.results.map(\.id) == ["sent", "waiting"])
        #expect(scene.results.map(\.error?.code) == ["link_lost", "unknown_tag"])
        scene.report(.commandEnded(token: 1, .success(.done)))
        scene.wait(.seconds(60))
        #expect(scene.results.filter(\.final).count == 3)
    }

    @Test("removes the record after the last event of the tag, which may have stored it")
    func record() {
        let scene = scene()
        scene.send(topic, "003R")
        _ = scene.takeActions()
        // The tag is heard in the same turn as the answer that its bond is removed.
        scene.handle(.sighting(.tag003R, TagSighting(address: "F1", adapter: "hci0", rssi: -60, name: "Jacquard")))
        scene.wait(.seconds(10))
        scene.done()
        let actions = scene.takeActions()
        #expect(actions.contains { if case .remember = $0 { true } else { false } })
        #expect(actions.last == .forgetRecord(.tag003R))
    }

    @Test("removes the record of a tag that a reload has removed meanwhile")
    func releasedRecord() {
        let scene = scene()
        scene.send(topic, "003R")
        scene.handle(.tagRemoved(.tag003R))
        _ = scene.takeActions()
        scene.done()
        #expect(scene.takeActions() == [.forgetRecord(.tag003R)])
    }

    @Test("changes nothing when the bond cannot be removed")
    func failure() {
        let scene = scene()
        scene.send(topic, "003R")
        scene.notDone(.refused(name: "org.bluez.Error.Failed", text: "no"))
        #expect(scene.lastError?.code == "tag_error")
        scene.send(topic, "003R")
        #expect(scene.takeActions().last == .forget(.tag003R, token: 2))
        #expect(scene.state.tags.count == 1)
    }

    @Test(
        "an error names the key that is wrong",
        arguments: [
            (#"{"tag":5}"#, #""tag" is 5; it may be a text of at most 64 bytes"#),
            (#"{"id":5}"#, #""id" is 5; it may be a text of at most 64 bytes"#),
            ("{}", #""id" is missing; it may be the id of a tag"#),
        ])
    func wrong(payload: String, text: String) {
        let scene = scene()
        scene.send(topic, payload)
        #expect(scene.lastError?.text == text)
    }

    @Test("gets a result when a reload removes the tag meanwhile", arguments: [0, 5])
    func released(seconds: Int) {
        let scene = scene()
        scene.send(topic, "003R")
        scene.handle(.tagRemoved(.tag003R))
        scene.wait(.seconds(seconds))
        #expect(scene.done().first?.contains(#""type":"tag_forgotten""#) == true)
        #expect((scene.results.last?.status == "ok") == (seconds == 5), "topics are emptied before")
        scene.wait(.seconds(1))
        #expect(scene.results.last?.status == "ok")
        #expect(scene.results.filter(\.final).count == 1)
        #expect(scene.state.deadline == nil)
    }

    @Test("does not affect another tag that has the id now")
    func replaced() {
        let scene = scene()
        scene.send(topic, "003R")
        scene.handle(.tagRemoved(.tag003R))
        scene.handle(.tagAdded(TagEntry(id: .tag003R, serial: "0099")))
        scene.done()
        #expect(scene.results.last?.status == "ok")
        #expect(scene.state.tags.map(\.entry.serial) == ["0099"])
    }

    @Test("is completed at once when the bridge stops")
    func stop() {
        let scene = scene()
        scene.send(topic, "003R")
        scene.done()
        let lines = scene.handle(.stopping)
        #expect(lines.count == Self.retained.count + 3)
        #expect(scene.results.last?.status == "ok")
    }

    @Test("and paired again within the second: the old topics are cleared before the new facts")
    func pairedAgain() {
        let scene = scene()
        scene.send(topic, "003R")
        scene.done()
        scene.send("bridge/attic/request/pair", "003R")
        let lines = scene.done(.paired(address: "F0", name: nil))
        #expect(lines.contains("jacquard/tag/003R/availability "))
        #expect(
            lines.lastIndex(of: "jacquard/tag/003R/stats ") ?? 99 < lines.firstIndex { $0.hasSuffix("offline") } ?? 0)
        #expect(scene.wait(.seconds(5)) == [])
    }

    @Test(
        "rejects an invalid request",
        arguments: [
            ("", "invalid_argument", #""id" is missing; it may be the id of a tag"#),
            ("9999", "unknown_tag", #"There is no tag "9999"; there are 003R"#),
            (#"{"id":7}"#, "invalid_argument", #""id" is 7; it may be a text of at most 64 bytes"#),
            (#"{"id":"#, "invalid_json", #"The payload "{"id":" is not JSON"#),
        ])
    func wrongValues(payload: String, code: String, text: String) {
        let scene = scene()
        scene.send(topic, payload)
        #expect(scene.lastError?.code == code)
        #expect(scene.lastError?.text == text)
        #expect(scene.takeActions() == [])
    }

    @Test("of a tag that is being forgotten is rejected as busy")
    func twice() {
        let scene = scene()
        scene.send(topic, "003R")
        scene.send(topic, "003R")
        #expect(scene.lastError?.code == "busy")
    }

    @Test("is executed again for the same tag within a minute, but not for the same request")
    func again() {
        let scene = scene()
        for (payload, isAgain) in [
            (#"{"id":"003R"}"#, true), (#"{"tag":"003R","id":"f"}"#, true), (#"{"tag":"003R","id":"f"}"#, false),
        ] {
            scene.send(topic, payload)
            #expect((scene.takeActions().first { $0.token != nil } != nil) == isAgain)
            scene.done()
            scene.wait(.seconds(1))
            scene.handle(.tagAdded(.tag003R))
            _ = scene.takeActions()
        }
        #expect(scene.results.filter(\.final).map(\.id) == ["003R", "f", "f"])
    }

    @Test("the outbox removes a cleared topic when the broker has acknowledged it, and not before")
    func outbox() throws {
        let now = Scene.beginning.instant
        var outbox = Outbox()
        _ = outbox.connected(at: now)
        for publication in [Publication.fact("a", word: "1"), .fact("b", word: "1")] {
            for delivery in outbox.submit(publication, at: now) {
                _ = outbox.acknowledged(try #require(delivery.ticket), at: now)
            }
        }
        let lost = try #require(outbox.submit(.noFact("a"), at: now).first)
        #expect(lost.publication.payload == [])
        #expect(lost.publication.message.isRetained)
        outbox.disconnected(at: now)
        let again = outbox.connected(at: now)
        #expect(again.map(\.publication.topic) == ["a", "b"])
        _ = outbox.acknowledged(try #require(again.first?.ticket), at: now)
        #expect(outbox.connected(at: now).map(\.publication.topic) == ["b"])
    }

    @Test("the outbox keeps a cleared topic that has a new fact when the broker acknowledges")
    func outboxAgain() throws {
        let now = Scene.beginning.instant
        var outbox = Outbox()
        _ = outbox.connected(at: now)
        let cleared = try #require(outbox.submit(.noFact("a"), at: now).first?.ticket)
        _ = outbox.submit(.fact("a", word: "2"), at: now)
        _ = outbox.acknowledged(cleared, at: now)
        #expect(outbox.connected(at: now).map(\.publication.line) == ["a 2"])
    }
}
