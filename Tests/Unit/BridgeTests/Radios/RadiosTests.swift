import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Several radios")
struct RadiosTests {
    private func scene(offlineAfter: Duration = .zero, radios: [String] = ["hall", "loft"]) -> Scene {
        let scene = Scene()
        var configuration = Scene.configuration()
        configuration.radios = radios
        configuration.options.offlineAfter = offlineAfter
        scene.state = BridgeState(configuration: configuration, boot: "9f3c", startedAt: Scene.beginning)
        return scene
    }

    private static let hall =
        #"{"bonded":true,"last_received":"2026-11-20T10:15:00.114Z","radio":"hall","rssi":-61}"#
    private let reception = RadioReception(radio: "hall", rssi: -61, age: .seconds(2), isBonded: true)

    private static func availability(_ lines: [String]) -> [String] { lines.filter { $0.contains("/availability ") } }

    @Test("A pairing with a radio that is off is refused at once")
    func pairingWithoutRadio() {
        let scene = scene()
        scene.powerOn()
        var loft = AdapterFacts(id: "hci1", address: nil, state: .poweredOff)
        loft.radio = "loft"
        scene.handle(.adapters([loft]))
        _ = scene.takeActions()
        scene.send("bridge/attic/request/pair", #"{"serial":"0001","radio":"loft"}"#)
        #expect(scene.lastError?.code == "not_permitted" && scene.lastError?.text == "Radio loft is powered off")
        #expect(scene.takeActions() == [])
        loft.state = .poweredOn
        scene.handle(.adapters([loft]))
        scene.send("bridge/attic/request/pair", #"{"serial":"0001","radio":"loft"}"#)
        #expect(scene.takeActions().count == 1)
    }

    @Test("The age of a reception is rounded, which is no new reception")
    func roundedAge() {
        var radios = TagRadios()
        func received(_ age: Duration, at now: Timestamp) -> Bool {
            radios.received([RadioReception(radio: "hall", rssi: -61, age: age, isBonded: true)], at: now)
        }
        let begin = Scene.beginning
        #expect(received(.milliseconds(100), at: begin))
        #expect(!received(.milliseconds(20_101), at: begin + .seconds(20)))
        #expect(radios.due == nil)
        #expect(received(.milliseconds(100), at: begin + .seconds(40)))
    }

    @Test("With one radio nothing is published about radios")
    func single() {
        let scene = Scene.connected()
        #expect(scene.handle(.radio(.tag003R, .received([reception]))) == [])
        #expect(scene.handle(.radio(.tag003R, .noBond(receivedBy: ["hall"]))) == [])
        #expect(!TagTopicTable.retained(scene.state.topics.tag(.tag003R)).contains { $0.hasSuffix("/radios") })
        #expect(!scene.publications.contains { $0.line.contains("radio") })
    }

    @Test("The radios of a tag are published at once, and then at most every ten seconds, but a changed bond at once")
    func receptions() {
        let scene = scene()
        #expect(
            scene.handle(.radio(.tag003R, .received([reception]))) == ["jacquard/tag/003R/radios [\(Self.hall)]"])
        var other = RadioReception(radio: "loft", rssi: nil, age: nil, isBonded: false)
        #expect(scene.handle(.radio(.tag003R, .received([reception, other]))) == [])
        #expect(
            scene.wait(.seconds(10)).filter { $0.contains("/radios ") } == [
                "jacquard/tag/003R/radios [\(Self.hall),"
                    + #"{"bonded":false,"last_received":null,"radio":"loft","rssi":null}]"#
            ])
        other.isBonded = true
        let bonded = scene.handle(.radio(.tag003R, .received([reception, other])))
        #expect(bonded.count == 1 && bonded[0].contains(#"{"bonded":true,"last_received":null,"radio":"loft""#))
    }

    @Test("The topic is retained, and withdrawn with its tag, and by the next run with one radio")
    func retained() {
        let several = scene()
        #expect(TagTopicTable.retained(several.state.topics.tag(.tag003R)).contains("jacquard/tag/003R/radios"))
        several.handle(.radio(.tag003R, .received([reception])))
        let records = several.actions.compactMap { if case .remember(let record) = $0 { record } else { nil } }
        #expect(records.map(\.hasRadios) == [true])
        let single = Scene()
        single.state = BridgeState(
            configuration: Scene.configuration(), records: records, boot: "9f3c", startedAt: Scene.beginning)
        #expect(single.handle(.started).contains("jacquard/tag/003R/radios "))
        single.handle(.brokerConnected)
        let after = single.actions.compactMap { if case .remember(let record) = $0 { record } else { nil } }
        #expect(after.map(\.hasRadios) == [false])
    }

    @Test("The connection names the radio")
    func connection() {
        let scene = scene()
        let lines = scene.handle(.sighting(.tag003R, TagSighting(adapter: "hci0", radio: "hall")))
        #expect(lines.contains { $0.hasPrefix("jacquard/tag/003R/connection ") && $0.contains(#""radio":"hall""#) })
        let moved = scene.handle(.sighting(.tag003R, TagSighting(adapter: "hci0", radio: "loft")))
        #expect(moved.contains { $0.hasPrefix("jacquard/tag/003R/connection ") && $0.contains(#""radio":"loft""#) })
    }

    @Test("Each adapter names its radio, and a lost radio is a problem; the last one is a failure")
    func adapters() {
        let scene = scene()
        let hall = AdapterFacts(id: "hci0", address: nil, state: .poweredOn, radio: "hall")
        var loft = AdapterFacts(id: "hci0", address: nil, state: .poweredOn, radio: "loft")
        let lines = scene.handle(.adapters([hall, loft]))
        #expect(lines[0].contains(#""radio":"hall""#) && lines[0].contains(#""radio":"loft""#))
        loft.state = .resetting
        let lost = scene.handle(.adapters([hall, loft]))
        #expect(lost.contains { $0.contains(#""type":"adapter_lost""#) && $0.contains(#""adapter":"loft""#) })
        #expect(lost.contains { $0.contains("radio_lost") && $0.contains("Radio loft cannot be used") })
        loft.state = .unauthorized
        #expect(!scene.handle(.adapters([hall, loft])).contains { $0.contains("not_permitted") })
    }

    @Test("The reason of a lost radio is in the problem and in its row, with its free links; a taken one has a remedy")
    func faults() {
        let scene = scene()
        var loft = AdapterFacts(id: "loft", address: nil, state: .unauthorized, radio: "loft")
        (loft.error, loft.freeLinks) = ("the proxy has another key", 3)
        let lines = scene.handle(.adapters([loft]))
        #expect(lines[0].contains(#""error":"the proxy has another key","free_links":3"#))
        #expect(lines.contains { $0.contains("Radio loft cannot be used: the proxy has another key") })
        (loft.state, loft.isTaken) = (.resetting, true)
        let taken = scene.handle(.adapters([loft]))
        #expect(taken.contains { $0.contains("radio_taken") && $0.contains("or from bluetooth.radios here") })
    }

    @Test("doctor has a finding for each radio")
    func doctor() {
        let scene = scene()
        let hall = AdapterFacts(id: "hci0", address: nil, state: .poweredOn, radio: "hall")
        var loft = AdapterFacts(id: "loft", address: nil, state: .unauthorized, radio: "loft")
        loft.error = "the proxy has another key"
        scene.handle(.adapters([hall, loft]))
        let findings = BridgeFindings(of: scene.state, at: scene.now).all(with: HostReport(findings: []), tag: nil)
            .filter { $0.check == .radio }
        #expect(findings.map(\.verdict) == [.ok, .failed])
        #expect(findings.last?.found == "Radio loft cannot be used: the proxy has another key")
    }

    @Test("A tag that only radios without a bond receive is a problem, with its remedy in why, until that is over")
    func missingBond() {
        let scene = scene()
        let lines = scene.handle(.radio(.tag003R, .noBond(receivedBy: ["hall"])))
        #expect(lines.contains { $0.contains("no_bond_here") && $0.contains("pair 003R --radio hall") })
        let tag = scene.state.tags[0]
        let finding = TagFindings(tag, nil, isConnectedElsewhere: false, now: scene.now).bond
        #expect(finding.verdict == .failed)
        let end = scene.handle(.radio(.tag003R, .noBond(receivedBy: [])))
        #expect(end.contains { $0.contains(#""problems":[]"#) })
    }

    @Test("A pairing can name a radio, and only one that the bridge has")
    func pairing() {
        let scene = scene()
        scene.handle(.bluetooth(.poweredOn))
        scene.send("bridge/attic/request/pair", #"{"serial":"003R","radio":"loft"}"#)
        #expect(
            scene.actions.contains {
                if case .pair(.tag003R, serial: "003R", timeout: _, radio: "loft", isCheck: false, token: _) = $0 {
                    true
                } else {
                    false
                }
            })
        let refused = scene.send("bridge/attic/request/pair", #"{"serial":"003R","radio":"attic"}"#)
        #expect(refused.contains { $0.contains("hall, loft") && $0.contains("invalid_argument") })
    }

    @Test(
        "A check of a bond needs a radio and a known tag, changes no state of pairing, and names the radio that fails")
    func check() {
        let scene = scene()
        scene.handle(.bluetooth(.poweredOn))
        let topic = "bridge/attic/request/pair"
        #expect(scene.send(topic, #"{"serial":"003R","check":true}"#).contains { $0.contains("needs \\\"radio\\\"") })
        #expect(
            scene.send(topic, #"{"serial":"0001","radio":"loft","check":true}"#).contains { $0.contains("unknown_tag") }
        )
        _ = scene.takeActions()
        let request = #"{"serial":"003R","radio":"loft","check":true,"timeout_s":20}"#
        #expect(!scene.send(topic, request).contains { $0.contains("pair_started") })
        let actions = scene.takeActions()
        guard
            case .pair(.tag003R, serial: "003R", timeout: .seconds(20), radio: "loft", isCheck: true, let token)? =
                actions.first
        else {
            Issue.record("no check: \(actions)")
            return
        }
        let failed = scene.handle(.requestEnded(token: token, .failure(.notFound)))
        #expect(failed.count == 1 && failed[0].contains("The radio loft has not received the tag within 20 s"))
        scene.send(topic, request)
        guard case .pair(_, serial: _, timeout: _, radio: _, isCheck: true, let next)? = scene.takeActions().first
        else {
            return
        }
        let done = scene.handle(.requestEnded(token: next, .success(.paired(address: "F0", name: nil))))
        #expect(done.count == 1 && done[0].contains(#""status":"ok""#))
    }

    // MARK: Short gaps

    @Test("A tag stays available for a while after its link was lost, and its connection is shown as it is")
    func grace() {
        let scene = scene(offlineAfter: .seconds(5))
        scene.connect()
        let lines = scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
        #expect(lines.contains { $0.contains("/connection ") && $0.contains("preparing_to_connect") })
        #expect(!lines.contains("jacquard/tag/003R/availability offline"))
        #expect(Self.availability(scene.wait(.milliseconds(4_999))) == [])
        #expect(Self.availability(scene.wait(.milliseconds(1))) == ["jacquard/tag/003R/availability offline"])
    }

    @Test("A link within that time leaves the tag available")
    func returned() {
        let scene = scene(offlineAfter: .seconds(5))
        scene.connect()
        scene.disconnect()
        scene.wait(.seconds(2))
        scene.connect()
        #expect(!Self.availability(scene.wait(.seconds(60))).contains { $0.hasSuffix("offline") })
    }

    @Test("A tag that stays disconnected is not available at once")
    func disconnected() {
        let scene = scene(offlineAfter: .seconds(5))
        scene.connect()
        let lines = scene.report(.connection(TagConnection(state: .disconnected, attempt: 1)))
        #expect(Self.availability(lines) == ["jacquard/tag/003R/availability offline"])
    }

    @Test("Without that time a lost link is shown at once")
    func noGrace() {
        let scene = Scene.connected()
        let lines = scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
        #expect(Self.availability(lines) == ["jacquard/tag/003R/availability offline"])
    }

    @Test("The end of the bridge ends that time")
    func stopped() {
        let scene = scene(offlineAfter: .seconds(5))
        scene.connect()
        scene.disconnect()
        #expect(Self.availability(scene.handle(.stopping)) == ["jacquard/tag/003R/availability offline"])
    }
}
