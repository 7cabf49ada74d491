import JacquardProtocol
import Testing

@testable import Bridge

@Suite("request/pair")
struct PairTests {
    private let topic = "bridge/attic/request/pair"

    private func scene(tags: [TagEntry] = [.tag003R]) -> Scene {
        let scene = Scene(tags: tags)
        scene.powerOn()
        _ = scene.takeActions()
        return scene
    }

    private func event(_ type: String, address: String = "null", id: String = "null", text: String = "null") -> String {
        #"jacquard/bridge/attic/event {"adapter":null,"address":\#(address),"bridge":"attic","id":\#(id),"#
            + #""serial":"0001","text":\#(text),"time":"2026-11-20T10:15:02.114Z","type":"\#(type)"}"#
    }

    @Test("publishes each stage, and ends with a tag that is known, stored and connected")
    func success() {
        let scene = scene()
        #expect(
            scene.send(topic, #"{"serial":"0001","timeout_s":90,"id":"p"}"#) == [event("pair_started", id: #""0001""#)])
        #expect(scene.takeActions() == [.pair(2, serial: "0001", timeout: .seconds(90), token: 1)])
        for (stage, line) in [
            (.found(address: "F0"), event("pair_found", address: #""F0""#)), (.pairing, event("pair_pairing")),
            (.connecting, event("pair_connecting")),
        ] as [(PairingStage, String)] {
            #expect(scene.handle(.pairing(2, stage)) == [line])
        }
        let lines = scene.done(.paired(address: "F0", name: "Jacquard-0001"))
        let entry = TagEntry(id: .known("0001"), serial: "0001")
        let record = TagRecord(id: entry.id, serial: "0001", address: "F0", name: "Jacquard-0001")
        #expect(
            scene.takeActions() == [
                .addTag(2, entry, lastAddress: nil), .reportAgain(2), .remember(record), .connect(2),
            ])
        #expect(lines.first == event("paired", address: #""F0""#, id: #""0001""#))
        #expect(lines.contains { $0.hasPrefix("jacquard/tag/0001/info") && $0.contains(#""paired":true"#) })
        #expect(lines.contains { $0.hasPrefix("jacquard/bridge/attic/info") && $0.contains(#""003R","0001""#) })
        #expect(
            lines.last?.contains(#""data":{"address":"F0","id":"0001","name":"Jacquard-0001","serial":"0001"}"#) == true
        )
        #expect(scene.handle(.pairing(2, .pairing)) == [])
        #expect(scene.state.tags.map(\.sighting.address) == [nil, "F0"])
    }

    @Test(
        "is ended by stop, with one final result for both requests",
        arguments: ["stop", #"{"pair":"stop","serial":"0001"}"#])
    func stop(payload: String) {
        let scene = scene()
        scene.send(topic, #"{"serial":"0001","id":"p"}"#)
        let token = scene.tokens.last ?? 0
        scene.handle(.pairing(2, .found(address: "F0")))
        _ = scene.takeActions()
        let lines = scene.send(topic, payload)
        #expect(scene.takeActions() == [.stopPairing(2), .removeTag(2)])
        let results = lines.filter { $0.hasPrefix("jacquard/bridge/attic/response/pair") }
        #expect(results.count == 2)
        #expect(
            results.first?.contains(#""code":"not_permitted""#) == true && results.first?.contains(#""id":"p""#) == true
        )
        #expect(results.last?.contains(#""data":{"stopped":["0001"]}"#) == true)
        #expect(lines.contains(event("pair_failed", id: #""0001""#, text: #""Cancelled by a later stop command""#)))
        #expect(scene.state.search.pairing.state == .idle && scene.state.search.pairing.isEmpty)
        // The driver reports the end of the pairing that nobody waits for.
        #expect(scene.handle(.requestEnded(token: token, .failure(.timeout(text: "the pairing was stopped")))) == [])
        scene.send(topic, "0001")
        #expect(scene.takeActions().count == 1, "and the next one begins")
    }

    @Test("stop ends the pairing of one serial only, and nothing is no error")
    func stopOne() {
        let scene = scene()
        scene.send(topic, "0001")
        scene.send(topic, "0002")
        _ = scene.takeActions()
        #expect(scene.send(topic, #"{"pair":"stop","serial":"0003"}"#).last?.contains(#""stopped":[]"#) == true)
        #expect(scene.takeActions() == [])
        scene.send(topic, #"{"pair":"stop","serial":"0002"}"#)
        #expect(scene.takeActions() == [.stopPairing(3), .removeTag(3)])
        #expect(scene.state.search.pairing.isPairing("0001"))
        // The serial of a tag may be that word.
        scene.send(topic, #"{"serial":"stop"}"#)
        #expect(scene.takeActions().count == 1)
        scene.send(topic, #"{"pair":"halt","serial":"0001"}"#)
        #expect(scene.lastError?.code == "invalid_argument")
    }

    @Test("stop keeps a known tag, ends the check of a bond, and a request that waits for Bluetooth")
    func stopOthers() {
        let scene = scene()
        scene.send(topic, "003R")
        _ = scene.takeActions()
        scene.send(topic, "stop")
        #expect(scene.takeActions() == [.stopPairing(1)])
        let waiting = Scene(tags: [.tag003R])
        waiting.send(topic, "0001")
        let lines = waiting.send(topic, "stop")
        #expect(lines.count { $0.hasPrefix("jacquard/bridge/attic/response/pair") } == 2)
        #expect(waiting.takeActions() == [])
        waiting.powerOn()
        #expect(!waiting.takeActions().contains { if case .pair = $0 { true } else { false } })
    }

    @Test("keeps no address of an earlier pairing, and ignores a refusal during a pairing")
    func nextPairing() {
        let (first, second) = (
            TagEntry(id: .known("0001"), serial: "0001"), TagEntry(id: .known("0002"), serial: "0002")
        )
        var progress = PairingProgress()
        let now = Scene.beginning
        _ = progress.handle(.began(first, 1), at: now)
        _ = progress.handle(.succeeded(first, address: "F0"), at: now)
        #expect(progress.address == "F0")
        _ = progress.handle(.began(second, 2), at: now)
        #expect(progress.address == nil)
        let isChanged = progress.handle(.refused(.bluetooth(is: .poweredOff), serial: nil), at: now)
        #expect(!isChanged)
        #expect(progress.state == .searching)
        #expect(progress.failure == nil)
    }

    @Test("publishes a failure with its reason")
    func failures() {
        for (error, code) in [
            (.notFound, "expired"), (.refused(name: "org.bluez.Error.AuthenticationFailed", text: "no"), "tag_error"),
            (.timeout(text: "the tag was found, but did not connect"), "timeout"),
            (.bluetoothUnavailable(.poweredOff), "not_permitted"),
        ] as [(RequestError, String)] {
            let scene = scene()
            scene.send(topic, "0001")
            #expect(scene.notDone(error).first?.contains(#""type":"pair_failed""#) == true)
            #expect(scene.lastError?.code == code)
            #expect(scene.state.tags.count == 1)
            scene.send(topic, "0001")
            #expect(scene.takeActions().count == 3)
        }
    }

    @Test("names a received serial that looks like the one that is searched for")
    func similarSerial() {
        let scene = scene()
        scene.send(topic, "04px")
        let other = TagAdvertisement(address: "F0:02", serial: "0001", name: nil, rssi: -60)
        #expect(scene.handle(.advertisement(other)) == [])
        let similar = TagAdvertisement(address: "F0:01", serial: "04pX", name: nil, rssi: -60)
        scene.handle(.advertisement(similar))
        #expect(scene.state.search.pairing.hint == "Tag 04pX is received: did you mean it?")
        scene.notDone(.notFound)
        #expect(scene.lastError?.text == "The tag was not found before the timeout (did you mean 04pX?)")
        scene.send(topic, "O03R")
        scene.notDone(.notFound)
        #expect(scene.lastError?.text == "The tag was not found before the timeout (did you mean 003R?)")
        scene.send(topic, "zzzz")
        scene.notDone(.notFound)
        #expect(scene.lastError?.hint?.hasSuffix("; received are 0001, 04pX") == true)
    }

    @Test("accepts spaces around the serial, and says where to enter a missing one")
    func entered() {
        let scene = scene()
        scene.send(topic, #"{"serial":" 0001 "}"#)
        #expect(scene.takeActions() == [.pair(2, serial: "0001", timeout: .seconds(60), token: 1)])
        let empty = self.scene()
        empty.send(topic, "{}")
        #expect(
            empty.lastError?.hint
                == "In Home Assistant, first select it in Select tag to pair; no tag is received")
        #expect(empty.state.search.pairing.hint == empty.lastError?.hint)
    }

    @Test("of a configured tag keeps its configuration")
    func configured() {
        let entry = TagEntry(id: .known("sleeve"), serial: "0001", name: "Left", connect: .onDemand)
        let scene = scene(tags: [entry])
        scene.send(topic, "0001")
        let lines = scene.done(.paired(address: "F0", name: nil))
        #expect(lines.contains { $0.hasPrefix("jacquard/tag/sleeve/info") && $0.contains(#""paired":true"#) })
        #expect(scene.state.tags.count == 1)
    }

    @Test("fails if a reload has given the tag's id to another tag meanwhile, which keeps its own facts")
    func idTakenMeanwhile() {
        let scene = scene()
        scene.send(topic, "0001")
        _ = scene.takeActions()
        let token = scene.tokens.last ?? 0
        scene.handle(.tagAdded(TagEntry(id: .known("0001"), serial: "0009")))
        scene.handle(.requestEnded(token: token, .success(.paired(address: "F0", name: nil))))
        #expect(scene.lastError?.text == #""serial" is "0001", which is the id of another tag"#)
        #expect(scene.state.tags.map(\.sighting.address) == [nil, nil])
        #expect(scene.takeActions().last == .removeTag(2))
        #expect(scene.state.search.pairing.state == .failed)
    }

    @Test("adds the tag once if a reload has listed it with another id meanwhile")
    func listedMeanwhile() {
        let scene = scene()
        scene.send(topic, "0001")
        let token = scene.tokens.last ?? 0
        var configuration = scene.state.configuration
        let entry = TagEntry(id: .known("sleeve"), serial: "0001")
        configuration.tags.append(entry)
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.handle(.tagAdded(entry))
        scene.handle(.requestEnded(token: token, .success(.paired(address: "F0", name: nil))))
        #expect(scene.results.last?.status == "ok")
        #expect(scene.state.knownTags.map(\.entry.id.text) == ["003R", "sleeve"])
        #expect(scene.state.tags.map(\.sighting.address) == [nil, "F0"])
    }

    @Test("of a tag that has lost its bond connects it again")
    func lostBond() {
        let scene = scene()
        let error = TagConnectionError(.peerRemovedPairingInfo, "No bond")
        let lines = scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        #expect(lines.last?.contains(#""code":"peer_removed_pairing_info""#) == true)
        scene.send(topic, "003R")
        #expect(scene.done(.paired(address: "F0", name: nil)).contains { $0.contains(#""problems":[]"#) })
        #expect(scene.takeActions().contains(.connect(.tag003R)))
    }

    @Test("that fails removes an unknown tag from the driver, and no known one")
    func removal() {
        let scene = scene()
        scene.send(topic, "0001")
        scene.notDone(.notFound)
        #expect(scene.takeActions().last == .removeTag(2))
        scene.send(topic, "003R")
        scene.notDone(.notFound)
        #expect(scene.takeActions().count == 1)
    }

    @Test("of one tag is executed once at a time")
    func twice() {
        let scene = scene()
        scene.send(topic, "0001")
        scene.send(topic, "0001")
        #expect(scene.lastError?.code == "busy")
        scene.send(topic, "0002")
        #expect(scene.takeActions().count == 2)
    }

    @Test("that the driver never completes fails with an internal error")
    func defect() {
        let scene = scene()
        scene.send(topic, #"{"serial":"0001","timeout_s":5}"#)
        scene.wait(.seconds(35))
        #expect(scene.lastError?.code == "internal")
        #expect(scene.state.search.pairing.isEmpty)
    }

    @Test("waits until the state of Bluetooth is known")
    func waits() {
        let scene = Scene()
        for id in ["a", "b"] { scene.send(topic, #"{"serial":"0001","id":"\#(id)"}"#) }
        #expect(scene.publications.isEmpty)
        #expect(scene.powerOn().contains { $0.contains("pair_started") })
        #expect(scene.takeActions().contains(.pair(2, serial: "0001", timeout: .seconds(60), token: 1)))
        #expect(scene.lastError?.code == "busy")
        scene.handle(.requestEnded(token: 1, .success(.paired(address: "F0", name: nil))))
        #expect(scene.results.map(\.status) == ["error", "ok"])
    }

    @Test("is refused when Bluetooth is off, or its state stays unknown; no pairing is published")
    func bluetooth() {
        let off = Scene()
        off.send(topic, "0001")
        off.handle(.bluetooth(.poweredOff))
        #expect(off.lastError?.text == "Bluetooth is powered off")
        let silent = Scene()
        silent.send(topic, #"{"serial":"0001","ttl_ms":2000}"#)
        silent.wait(.seconds(2))
        #expect(silent.results.map(\.status) == ["accepted", "error"])
        silent.send(topic, #"{"serial":"0001","ttl_ms":0}"#)
        #expect(silent.results.count == 3)
        #expect(silent.lastError?.text == "Bluetooth is unknown")
        silent.powerOn()
        for scene in [off, silent] {
            #expect(!scene.publications.contains { $0.topic.hasSuffix("/event") })
        }
    }

    private static let serials = "the serial printed on the tag, such as 003R"

    @Test(
        "rejects an invalid value",
        arguments: [
            ("", #""serial" is missing; it may be \#(serials)"#),
            (#"{"serial":"0_1"}"#, #""serial" is "0_1"; it may be \#(serials)"#),
            (#"{"serial":1}"#, #""serial" is 1; it may be \#(serials)"#),
            (#"{"serial":"0001","timeout_s":0}"#, #""timeout_s" is 0; it may be 1 to 300"#),
            ("a001", #""serial" is "a001", which is the id of another tag"#),
            ("001", #""serial" is "001"; it may be \#(serials)"#),
            ("00010", #""serial" is "00010"; it may be \#(serials)"#),
            ("sixteen-letters-", #""serial" is "sixteen-letters-"; it may be \#(serials)"#),
        ])
    func wrongValues(payload: String, text: String) {
        let scene = scene(tags: [.tag003R, TagEntry(id: .known("a001"), serial: "0009")])
        scene.send(topic, payload)
        #expect(scene.lastError?.text == text)
        #expect(scene.takeActions() == [])
    }

    @Test("a tag can be added by the configuration, once")
    func add() {
        let scene = scene()
        let entry = TagEntry(id: .known("0001"), serial: "0001")
        #expect(scene.handle(.tagAdded(entry)).count == 12)
        #expect(scene.takeActions().last == .connect(2))
        #expect(scene.handle(.tagAdded(entry)) == [])
        scene.report(.connection(TagConnection(state: .connected, attempt: 1)), of: entry.id)
        scene.send("tag/0001/led/set", "on")
        #expect(scene.performed.count == 1)
    }

    @Test("tags of the state file are known from the start, unless the configuration has their serial")
    func records() {
        let records = [
            TagRecord(id: .tag003R, serial: "003R", address: "F0", name: "Sleeve"),
            TagRecord(id: .known("old"), serial: "003R"), TagRecord(id: .known("0001"), serial: "0001"),
        ]
        let scene = Scene(records: records)
        #expect(scene.state.knownTags.map(\.entry.id.text) == ["003R", "0001"])
        #expect(scene.state.tags.map(\.sighting.address) == ["F0", nil])
        scene.powerOn()
        #expect(scene.takeActions() == [.connect(.tag003R), .connect(2)])
    }
}
