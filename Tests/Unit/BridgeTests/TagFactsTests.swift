import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Facts of a tag")
struct TagFactsTests {
    @Test("are complete at the start, unknown ones as null")
    func start() {
        let scene = Scene()
        #expect(
            scene.handle(.started) == [
                "jacquard/bridge/attic/state online",
                #"jacquard/bridge/attic/info {"bluez":null,"boot":"9f3c","connected":[],"contract":1,"instance":"attic","#
                    + #""mqtt":null,"started":"2026-11-20T10:15:02.114Z","tags":["003R"],"version":"0.1.0"}"#,
                #"jacquard/bridge/attic/health {"broker_reconnects":0,"dropped":0,"problems":[],"queue":0,"#
                    + #""rss_kb":null,"status":"ok","uptime_s":0}"#,
                "jacquard/bridge/attic/adapter []",
                #"jacquard/bridge/attic/scan {"scanning":false,"until":null}"#,
                #"jacquard/bridge/attic/tags {"connected":0,"known":1}"#,
                "jacquard/tag/003R/availability offline",
                #"jacquard/tag/003R/connection {"adapter":null,"attempt":0,"error":null,"held":false,"last_seen":null,"of":null,"#
                    + #""retry_at":null,"retry_in_ms":null,"rssi":null,"since":"2026-11-20T10:15:02.114Z","#
                    + #""state":"preparing_to_connect","status":"out_of_range","step":null,"#
                    + #""why":"not received since the bridge started. touch or move the tag: it stops advertising after 60 seconds"}"#,
                #"jacquard/tag/003R/battery {"charging":null,"level":null,"low":null,"time":null}"#,
                #"jacquard/tag/003R/battery/forecast {"basis":null,"earliest":null,"empty":null,"latest":null}"#,
                #"jacquard/tag/003R/gear {"attached":null,"capabilities":null,"firmware":null,"product":null,"#
                    + #""product_id":null,"time":null,"uuid":null,"vendor":null,"vendor_id":null}"#,
                #"jacquard/tag/003R/info {"address":null,"bridge":"attic","chords":[],"firmware":null,"#
                    + #""gestures":["double_tap","brush_in","brush_out","cover","brush_up","brush_down"],"#
                    + #""id":"003R","name":null,"paired":null,"product_id":null,"serial":"003R","tag_name":null,"#
                    + #""uuid":null,"vendor_id":null}"#,
                "jacquard/tag/003R/touch_mode gesture",
                #"jacquard/tag/003R/led {"brightness":255,"color":{"b":255,"g":255,"r":255},"color_mode":"rgb","#
                    + #""effect":"solid","state":"OFF"}"#,
                "jacquard/tag/003R/rssi null",
                #"jacquard/tag/003R/stats {"boot":"9f3c","expired":0,"gestures":{},"last_seq":0,"#
                    + #""lost_fragments":0,"reconnects":0,"time":"2026-11-20T10:15:02.114Z"}"#,
            ])
    }

    @Test("are retained with QoS 1, the signal strength with QoS 0")
    func qos() {
        let scene = Scene()
        scene.handle(.started)
        #expect(scene.publications.allSatisfy { $0.message.isRetained })
        #expect(scene.publications.filter { $0.message.qos != .atLeastOnce }.map(\.topic) == ["jacquard/tag/003R/rssi"])
    }

    @Test("publish the battery level on two topics")
    func battery() {
        let scene = Scene.connected()
        #expect(
            scene.report(.battery(BatteryStatus(level: 87, isCharging: false))) == [
                #"jacquard/tag/003R/battery {"charging":false,"level":87,"low":false,"time":"2026-11-20T10:15:02.114Z"}"#,
                "jacquard/tag/003R/battery/level 87",
            ])
    }

    @Test("restore the battery level after a restart, with its time")
    func keptBattery() {
        let battery = TagRecord.Battery(level: 42, isCharging: true, unixMilliseconds: 1_795_169_642_114)
        let scene = Scene(records: [TagRecord(id: .tag003R, serial: "003R", battery: battery)])
        let lines = scene.handle(.started)
        #expect(
            lines.contains(
                #"jacquard/tag/003R/battery {"charging":true,"level":42,"low":false,"time":"2026-11-20T10:14:02.114Z"}"#
            ))
        #expect(lines.contains("jacquard/tag/003R/battery/level 42"))
        #expect(scene.takeActions().isEmpty)
    }

    @Test("store the battery level at once, then every ten seconds, and at the stop")
    func batteryKept() {
        let scene = Scene.connected()
        _ = scene.takeActions()
        var kept: [UInt8?] = []
        func note(_ scene: Scene) {
            for case .remember(let record) in scene.takeActions() { kept.append(record.battery?.level) }
        }
        for level in [90, 89, 88] as [UInt32] {
            scene.report(.battery(BatteryStatus(level: level, isCharging: false)))
            note(scene)
        }
        #expect(kept == [90])
        scene.wait(.seconds(10))
        note(scene)
        #expect(kept == [90, 88])
        scene.report(.battery(BatteryStatus(level: 87, isCharging: false)))
        scene.handle(.stopping)
        note(scene)
        #expect(kept == [90, 88, 87])
    }

    @Test("store the address of a connection, and not one that was only seen")
    func keptAddress() {
        let scene = Scene()
        scene.handle(.sighting(.tag003R, TagSighting(address: "F0:01")))
        #expect(scene.takeActions().contains { if case .remember = $0 { true } else { false } } == false)
        scene.connect()
        #expect(scene.takeActions() == [.remember(TagRecord(id: .tag003R, serial: "003R", address: "F0:01"))])
    }

    @Test("show attached gear, and only null values without gear")
    func gear() {
        let scene = Scene.connected()
        #expect(
            scene.report(.gear(.jacket)) == [
                #"jacquard/tag/003R/gear {"attached":true,"capabilities":["gesture","touch_data_stream","haptic"],"#
                    + #""firmware":"1.2.3","product":"Trucker Jacket","product_id":"8a-66-50-f4","#
                    + #""time":"2026-11-20T10:15:02.114Z","uuid":"4-07-JKT","vendor":"Levi's","vendor_id":"74-a8-ce-54"}"#
            ])
        #expect(
            scene.report(.gear(nil)) == [
                #"jacquard/tag/003R/gear {"attached":false,"capabilities":null,"firmware":null,"product":null,"#
                    + #""product_id":null,"time":null,"uuid":null,"vendor":null,"vendor_id":null}"#
            ])
    }

    @Test("show the ids of unknown gear, and no name")
    func unknownGear() throws {
        let scene = Scene.connected()
        let id = JacquardIdentifier(rawValue: 1)
        scene.report(
            .gear(
                Component(
                    componentID: 4, vendor: .init(id: id, name: ""), product: .init(id: id, name: ""), capabilities: [])
            ))
        #expect(
            scene.publications.last?.text
                == #"{"attached":true,"capabilities":[],"firmware":null,"product":null,"product_id":"00-00-00-01","#
                + #""time":"2026-11-20T10:15:02.114Z","uuid":null,"vendor":null,"vendor_id":"00-00-00-01"}"#)
    }

    @Test("show the device information and the facts of the Bluetooth stack")
    func info() {
        let scene = Scene()
        scene.report(.information(.tag))
        let sighting = TagSighting(
            address: "F0:00:00:00:00:01", adapter: "hci0", rssi: -63, name: "Sleeve", isPaired: true)
        let lines = scene.handle(.sighting(.tag003R, sighting))
        #expect(
            lines == [
                #"jacquard/tag/003R/info {"address":"F0:00:00:00:00:01","bridge":"attic","chords":[],"firmware":"1.2.3","#
                    + #""gestures":["double_tap","brush_in","brush_out","cover","brush_up","brush_down"],"#
                    + #""id":"003R","name":"Sleeve","paired":true,"product_id":"28-3b-e7-a0","serial":"003R","#
                    + #""tag_name":"Sleeve","uuid":"0-07-9324FLHBK0003R-1903","vendor_id":"11-78-30-c8"}"#,
                "jacquard/tag/003R/rssi -63",
                #"jacquard/tag/003R/connection {"adapter":"hci0","attempt":0,"error":null,"held":false,"#
                    + #""last_seen":"2026-11-20T10:15:02.114Z","of":null,"retry_at":null,"retry_in_ms":null,"rssi":-63,"since":"2026-11-20T10:15:02.114Z","#
                    + #""state":"preparing_to_connect","status":"out_of_range","step":null,"why":"not connected since 2026-11-20T10:15:02.114Z"}"#,
            ])
    }

    @Test("show the configured name and the tag's own")
    func names() {
        let scene = Scene(tags: [TagEntry(id: .tag003R, serial: "003R", name: "Left sleeve")])
        let lines = scene.handle(.sighting(.tag003R, TagSighting(name: "Sleeve")))
        #expect(lines.first?.contains(#""name":"Left sleeve""#) == true)
        #expect(lines.first?.contains(#""tag_name":"Sleeve""#) == true)
    }

    @Test("the connection of a tag without a link has a new last_seen with the first advertisement of each minute")
    func lastSeen() {
        let scene = Scene()
        scene.send("tag/003R/connection/set", "disconnect")
        /// The `last_seen` that an advertisement publishes.
        func advertise() -> [Substring] {
            scene.handle(.sighting(.tag003R, TagSighting(rssi: -60))).compactMap { line in
                line.firstMatch(of: /\/connection .*"last_seen":"[^"]*:(\d\d:\d\d)/)?.1
            }
        }
        #expect(advertise() == ["15:02"])
        var published: [Substring] = []
        for _ in 1...20 {
            scene.wait(.seconds(9))
            published += advertise()
        }
        #expect(published == ["16:05", "17:08", "18:02"])
        scene.wait(.seconds(600))
        #expect(advertise() == ["28:02"])
        scene.connect()
        scene.wait(.seconds(600))
        #expect(advertise() == [])
    }

    @Test("show the touch mode")
    func touchMode() {
        let scene = Scene.connected()
        #expect(scene.report(.touchMode(.continuous)) == ["jacquard/tag/003R/touch_mode continuous"])
    }

    @Test("report the signal strength every 30 s, or when it changes by 5 dB")
    func signal() {
        let scene = Scene()
        let steps: [(rssi: Int?, after: Int, isPublished: Bool)] = [
            (-63, 0, true), (-60, 1, false), (-59, 1, false), (-58, 1, true), (-58, 29, false), (-58, 1, true),
            (nil, 60, false), (-53, 0, true),
        ]
        for step in steps {
            scene.now = scene.now + .seconds(step.after)
            let lines = scene.handle(.sighting(.tag003R, TagSighting(rssi: step.rssi)))
            #expect(lines.contains { $0.hasPrefix("jacquard/tag/003R/rssi ") } == step.isPublished, "\(step)")
        }
    }

    @Test("are not published for an unknown tag")
    func unknownTag() {
        let scene = Scene()
        let other = TagID.known("0001")
        #expect(scene.report(.gesture(.doubleTap), of: other) == [])
        #expect(scene.handle(.sighting(2, TagSighting(rssi: -1))) == [])
    }

    @Test("stream touch samples without retaining them")
    func touch() throws {
        let scene = Scene.connected()
        let sample = try #require(TouchData(sequence: 881, scaled: [12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))
        #expect(
            scene.report(.touch(sample)) == [
                #"jacquard/tag/003R/touch {"lines":[1,2,3,4,5,6,7,8,9,10,11,12],"proximity":12,"seq":881,"#
                    + #""time":"2026-11-20T10:15:02.114Z"}"#
            ])
        #expect(scene.publications.last?.kind == .stream)
        #expect(scene.publications.last?.message.qos == .atMostOnce)
    }
}
