import MQTTTypes
import Testing

@testable import Bridge

@Suite("request/scan")
struct ScanTests {
    private let topic = "bridge/attic/request/scan"
    private let tag = TagAdvertisement(address: "F0:01", serial: "003R", name: "Sleeve", rssi: -60)
    private let stranger = TagAdvertisement(address: "F0:02", serial: "0001", name: nil, rssi: nil)

    private func scene(scanning payload: String? = nil) -> Scene {
        let scene = Scene()
        scene.powerOn()
        _ = scene.takeActions()
        if let payload {
            scene.send(topic, payload)
            scene.done()
            _ = scene.takeActions()
        }
        return scene
    }

    private func heard(_ tag: TagAdvertisement, in scene: Scene) -> [String] {
        scene.handle(.advertisement(tag))
    }

    @Test("publishes the state, an event and a result when the scan runs")
    func begin() {
        let scene = scene()
        #expect(scene.send(topic, #"{"duration_s":10,"duplicates":true,"id":"s"}"#) == [])
        #expect(scene.takeActions() == [.scan(allowsDuplicates: true, token: 1)])
        #expect(
            scene.done() == [
                #"jacquard/bridge/attic/scan {"scanning":true,"until":"2026-11-20T10:15:12.114Z"}"#,
                #"jacquard/bridge/attic/event {"adapter":null,"address":null,"bridge":"attic","id":null,"#
                    + #""serial":null,"text":null,"time":"2026-11-20T10:15:02.114Z","type":"scan_started"}"#,
                #"jacquard/bridge/attic/response/scan {"bridge":"attic","data":{"scanning":true,"#
                    + #""until":"2026-11-20T10:15:12.114Z"},"error":null,"final":true,"id":"s","status":"ok","#
                    + #""time":"2026-11-20T10:15:02.114Z","took_ms":0}"#,
            ])
    }

    @Test("waits until the state of Bluetooth is known; a request to stop does not")
    func waits() {
        let scene = Scene()
        scene.send(topic, #"{"id":"s"}"#)
        #expect(scene.send(topic, "stop").count == 2)
        #expect(scene.takeActions() == [])
        scene.powerOn()
        #expect(scene.takeActions().contains(.scan(allowsDuplicates: false, token: 1)))
        #expect(scene.done().last?.contains(#""id":"s","status":"ok""#) == true)
    }

    @Test("ends after its duration, with one event")
    func time() {
        let scene = scene(scanning: "")
        #expect(scene.wait(.milliseconds(29_999)) == [])
        let lines = scene.wait(.milliseconds(1))
        #expect(lines.first == #"jacquard/bridge/attic/scan {"scanning":false,"until":null}"#)
        #expect(lines.last?.contains(#""text":"the duration has passed""#) == true)
        #expect(lines.count == 2)
        #expect(scene.takeActions() == [.stopScan(token: 2)])
        #expect(scene.done() == [])
        #expect(scene.handle(.scanEnded) == [])
    }

    @Test("ends when Bluetooth ends the scan or is switched off")
    func ended() {
        var scene = scene(scanning: "")
        #expect(scene.handle(.scanEnded).count == 2)
        #expect(scene.handle(.scanEnded) == [])
        #expect(scene.wait(.seconds(60)) == [])
        scene = self.scene(scanning: "")
        #expect(
            scene.handle(.bluetooth(.poweredOff)).last?
                .contains(#""text":"Bluetooth is powered off""#) == true)
    }

    @Test("publishes one event for each request to stop")
    func stop() {
        let scene = scene(scanning: "")
        #expect(scene.send(topic, "stop") == [])
        #expect(scene.send(topic, "stop") == [])
        #expect(scene.takeActions() == [.stopScan(token: 2), .stopScan(token: 3)])
        #expect(scene.handle(.scanEnded).count == 1)
        for token in [2, 3] as [UInt64] {
            let lines = scene.handle(.requestEnded(token: token, .success(.done)))
            #expect(lines.count == 2)
            #expect(lines.first?.contains("scan_stopped") == true)
        }
        let lines = scene.send(topic, "stop")
        #expect(lines.count == 2)
        #expect(lines.last?.contains(#""data":{"scanning":false,"until":null}"#) == true)
    }

    @Test("that could not be stopped runs on, and its end publishes one event")
    func stopFailed() {
        let scene = scene(scanning: "")
        scene.send(topic, "stop")
        scene.notDone(.refused(name: "x", text: "y"))
        #expect(scene.state.search.scan.isScanning)
        #expect(scene.handle(.scanEnded).count == 2)
        #expect(!scene.state.search.scan.isWanted)
    }

    @Test("that is stopped before it runs starts and stops")
    func stopAtOnce() {
        let scene = scene()
        scene.send(topic, "")
        #expect(scene.send(topic, "stop") == [])
        #expect(scene.takeActions() == [.scan(allowsDuplicates: false, token: 1), .stopScan(token: 2)])
        for token in [1, 2] as [UInt64] {
            scene.handle(.requestEnded(token: token, .success(.done)))
        }
        #expect(!scene.state.search.scan.isScanning)
        #expect(scene.results.map(\.status) == ["ok", "ok"])
        #expect(scene.publications.count { $0.text.contains(#""type":"scan_stopped""#) } == 1)
        scene.send(topic, "")
        scene.notDone(.refused(name: "x", text: "y"))
        #expect(scene.send(topic, "stop").count == 2)
    }

    @Test("a second scan prolongs the first and never shortens it")
    func prolong() {
        let scene = scene(scanning: #"{"duration_s":60}"#)
        scene.send(topic, #"{"duration_s":5}"#)
        #expect(scene.done().first?.contains("10:16:02") == true)
        scene.send(topic, #"{"duration_s":120,"duplicates":true}"#)
        let lines = scene.done()
        #expect(lines.first?.contains("10:17:02") == true)
        #expect(lines.count == 2)
        #expect(scene.state.search.scan.allowsDuplicates)
    }

    @Test("publishes each tag once, or each advertisement with duplicates")
    func duplicates() {
        for (payload, count) in [("", 1), (#"{"duplicates":true}"#, 3)] {
            let scene = scene(scanning: payload)
            let lines = (0..<3).flatMap { _ in heard(tag, in: scene) }
            #expect(lines.count == count)
            #expect(
                lines.first
                    == #"jacquard/bridge/attic/advertisement {"address":"F0:01","known":true,"name":"Sleeve","#
                    + #""rssi":-60,"serial":"003R"}"#)
            #expect(
                heard(stranger, in: scene) == [
                    #"jacquard/bridge/attic/advertisement {"address":"F0:02","known":false,"name":null,"#
                        + #""rssi":null,"serial":"0001"}"#
                ])
            #expect(scene.publications.last?.kind == .stream)
            #expect(scene.publications.last?.message.qos == .atMostOnce)
        }
    }

    @Test("publishes nothing without a requested scan, and no connected tags")
    func silence() {
        var scene = scene()
        #expect(heard(tag, in: scene) == [])
        scene = self.scene(scanning: "")
        var connected = tag
        connected.isConnected = true
        #expect(heard(connected, in: scene) == [])
    }

    @Test(
        "without Bluetooth is refused, and the error contains its state",
        arguments: zip(
            AdapterFacts.State.allCases.filter { $0 != .poweredOn },
            [
                ("unknown", true), ("resetting", true), ("unsupported", false), ("unauthorized", false),
                ("powered off", false),
            ]))
    func bluetoothOff(state: AdapterFacts.State, said: (text: String, isRetryable: Bool)) {
        let scene = Scene()
        scene.handle(.bluetooth(state))
        _ = scene.takeActions()
        scene.send(topic, "")
        if state == .unknown { scene.wait(.seconds(10)) }
        #expect(scene.takeActions() == [])
        #expect(scene.lastError?.code == "not_permitted")
        #expect(scene.lastError?.text == "Bluetooth is \(said.text)")
        #expect(scene.lastError?.retryable == said.isRetryable)
    }

    @Test("fails with the stack's error, and no scan runs")
    func failure() {
        let scene = scene()
        scene.send(topic, "")
        scene.notDone(.refused(name: "org.bluez.Error.Failed", text: "no"))
        #expect(scene.lastError?.code == "tag_error")
        scene.send(topic, "")
        scene.notDone(.bluetoothUnavailable(.poweredOff))
        #expect(scene.lastError?.text == "Bluetooth is powered off")
        #expect(!scene.state.search.scan.isScanning)
    }

    @Test(
        "rejects an invalid value",
        arguments: [
            ("start", #""payload" is "start"; it may be stop, or a JSON object"#),
            (#"{"duration_s":0}"#, #""duration_s" is 0; it may be 1 to 3600"#),
            (#"{"duration_s":3601}"#, #""duration_s" is 3601; it may be 1 to 3600"#),
            (#"{"duplicates":"yes"}"#, #""duplicates" is "yes"; it may be true or false"#),
        ])
    func wrongValues(payload: String, text: String) {
        let scene = scene()
        scene.send(topic, payload)
        #expect(scene.lastError?.text == text)
    }

    @Test("a duplicate serial is one event, and a problem until ten minutes after the last report")
    func duplicateSerial() {
        let scene = scene()
        scene.handle(.sighting(.tag003R, TagSighting(address: "F0:01")))
        func report() -> [String] {
            scene.handle(.duplicateSerial("003R", addresses: ["F0:01", "F0:03"]))
        }
        let lines = report()
        #expect(lines.first?.contains(#""type":"duplicate_serial""#) == true)
        #expect(lines.first?.contains(#""address":"F0:03""#) == true)
        #expect(lines.last?.contains(#""code":"duplicate_serial""#) == true)
        scene.wait(.seconds(300))
        #expect(report() == [])
        let measurement = HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)
        for (seconds, status) in [(599, "degraded"), (1, "ok")] {
            scene.wait(.seconds(seconds))
            let lines = scene.handle(.measured(measurement))
            #expect(lines.last?.contains(#""status":"\#(status)""#) == true)
        }
    }

    @Test("a pairing, forget, or another address in the configuration ends the problem of a duplicate serial at once")
    func solvedDuplicate() {
        let steps: [(Scene) -> [String]] = [
            { scene in
                scene.send("bridge/attic/request/pair", #"{"serial":"003R"}"#)
                return scene.done(.paired(address: "F0:03", name: nil))
            },
            { scene in
                scene.send("bridge/attic/request/forget", #"{"id":"003R"}"#)
                return scene.done()
            },
            // A tag with another address is another tag.
            { scene in scene.handle(.tagRemoved(.tag003R)) + scene.handle(.tagAdded(.tag003R, record: nil)) },
        ]
        for (number, solve) in steps.enumerated() {
            let scene = scene()
            scene.powerOn()
            scene.handle(.sighting(.tag003R, TagSighting(address: "F0:01")))
            scene.handle(.duplicateSerial("003R", addresses: ["F0:01", "F0:03"]))
            let health = solve(scene).filter { $0.hasPrefix("jacquard/bridge/attic/health") }
            #expect(health.last?.contains(#""problems":[]"#) == true, "\(number)")
            let lines = scene.handle(.duplicateSerial("003R", addresses: ["F0:01", "F0:03"]))
            #expect(lines.first?.contains(#""type":"duplicate_serial""#) == true, "\(number)")
        }
    }

    @Test("a serial of two configured tags is not a problem")
    func sharedSerial() {
        let scene = Scene(tags: ["left", "right"].map { TagEntry(id: .known($0), serial: "003R") })
        #expect(scene.handle(.duplicateSerial("003R", addresses: ["F0:01", "F0:03"])) == [])
    }

    @Test("tags that are silent for an hour are not listed")
    func forgotten() {
        let scene = scene()
        _ = heard(tag, in: scene)
        scene.wait(.seconds(3600))
        _ = heard(stranger, in: scene)
        #expect(scene.state.search.seen.all.map(\.tag.serial) == ["0001"])
    }
}
