import EventLoop
import JacquardProtocol
import MQTTTypes
import Time

/// Commands and requests of every kind, right and wrong, chords, and messages of Home Assistant, for recorded runs.
///
/// The oracle does not judge their effects: that nothing has changed is seen in the trace.
@LoopActor
final class EveryCommand {
    private let world: World
    private var random: SplitMix
    private var count = 0
    private var latest: (topic: String, payload: String)?

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.options.seed &* 0x9E37_79B9_7F4A_7C15 &+ 5)
    }

    /// Begins to send them, about two a second.
    func begin() {
        world.after(.milliseconds(Int64(100 + random.next() % 800))) { [self] in
            count += 1
            switch count % 12 {
            case 0: touch(Self.pairs[Int(random.next() % UInt64(Self.pairs.count))])
            case 1 where random.next() % 3 == 0: visit()
            default: send()
            }
            begin()
        }
    }

    private var tag: AirTag { world.tags[Int(random.next() % UInt64(world.tags.count))] }

    /// Gestures that are chords, or nearly.
    private static let pairs: [[Gesture]] = [
        [.shortCover, .shortCover], [.brushIn, .brushOut], [.brushIn, .shortCover], [.doubleTap, .doubleTap, .brushIn],
    ]

    private func touch(_ gestures: [Gesture]) {
        let tag = tag
        for (number, gesture) in gestures.enumerated() {
            world.after(.milliseconds(Int64(200 * number))) { tag.make(gesture) }
        }
    }

    /// Home Assistant starts, someone deletes a device in it, or forgets a tag and pairs it again.
    private func visit() {
        let (tag, bridge) = (tag.serial, world.hosts[0].instance)
        switch random.next() % 4 {
        case 0: announce("status", "online")
        case 1: announce("device/jacquard_tag_\(tag)/config", "")
        case 2: announce("device/jacquard_bridge_\(bridge)/config", "")
        default:
            let topic = "jacquard/bridge/\(bridge)/request/"
            world.people.send(topic + "forget", "{\"tag\":\"\(tag)\",\"id\":\"f\(count)\"}", id: nil)
            world.after(.seconds(5)) { [self] in
                world.people.send(topic + "pair", "{\"serial\":\"\(tag)\",\"timeout_s\":60}", id: nil)
            }
        }
    }

    private func announce(_ topic: String, _ payload: String) {
        world.broker.inject(
            MQTTMessage(
                topic: "homeassistant/" + topic, payload: Array(payload.utf8), qos: .atLeastOnce,
                isRetained: payload.isEmpty))
    }

    /// Sends a command or a request; some come twice, as from an automation that has heard no result.
    private func send() {
        if let latest, count % 9 == 0 { return world.people.send(latest.topic, latest.payload, id: nil) }
        let (topic, payload) = Self.rows[Int(random.next() % UInt64(Self.rows.count))]
        let tag = tag.serial
        let bridge = world.hosts[Int(random.next() % UInt64(world.hosts.count))].instance
        func filled(_ text: String) -> String { text.replacing("TAG", with: tag).replacing("BRIDGE", with: bridge) }
        let text = filled(payload), id = "\"id\":\"e\(count)\"}"
        let whole = text.hasPrefix("{") ? String(text.dropLast()) + (text == "{}" ? "" : ",") + id : text
        latest = ("jacquard/" + filled(topic), whole)
        world.people.send("jacquard/" + filled(topic), whole, id: nil)
    }

    /// A JSON object gets an `id`.
    private static let rows: [(topic: String, payload: String)] = table.flatMap { topic, payloads in
        payloads.split(separator: "\n").map { (topic, String($0)) }
    }

    /// Topics, each with payloads in lines. Source of the keys and their limits: the article "MQTT topics".
    private static let table: [(topic: String, payloads: String)] = [
        (
            "tag/TAG/led/set",
            #"""
            flash
            on
            off
            ON
            OFF
            red
            green
            blue
            yellow
            cyan
            magenta
            orange
            purple
            pink
            white
            #ff8000
            mauve
            """#
        ),
        (
            "tag/TAG/led/set",
            #"""
            {"state":"ON"}
            {"state":"ON","color":{"r":255,"g":0,"b":0},"brightness":200,"effect":"breathe"}
            {"state":"ON","brightness":0}
            {"state":"ON","effect":"pulse","transition":2}
            {"state":"ON","effect":"solid","color":"pink"}
            {"state":"ON","effect":"blink"}
            {"state":"ON","effect":"double_blink","brightness":255}
            {"state":"ON","effect":"triple_blink","flash":2.5}
            {"color":"#ff0000","pattern":"breathing","duration_ms":2000,"component":"tag"}
            {"color":"#00ff00","pattern":"pulsing","duration_ms":1,"component":"gear"}
            {"pattern":"single_blink","duration_ms":86400000}
            {"pattern":"double_blink","resumable":true}
            {"pattern":"triple_blink","play":"toggle"}
            {"pattern":"custom","frames":[{"color":"red","duration_ms":50},{"color":"#0000ff","duration_ms":70}]}
            {"frames":[{"color":"#ff0000","duration_ms":100}],"duration_ms":2000,"resumable":true,"play":"toggle"}
            {"frames":[]}
            {"frames":[{"color":"red"}]}
            {"frames":[{"color":"red","duration_ms":0}]}
            {"frames":7}
            {"halt_all":true}
            {"halt_all":true,"component":"gear"}
            {"flash":0.001}
            {"flash":86400}
            {"flash":86401}
            {"flash":0}
            {"duration_ms":0}
            {"duration_ms":86400001}
            {"duration_ms":1.5}
            {"brightness":256}
            {"brightness":-1}
            {"color":{"r":256,"g":0,"b":0}}
            {"color":{"r":1}}
            {"color":"#12345"}
            {"state":"on"}
            {"state":"ON","state":"OFF"}
            {"state":"OFF","ttl_ms":0}
            {"state":"ON","ttl_ms":86400000}
            {"state":"ON","ttl_ms":86400001}
            {"component":"both"}
            {"play":"stop"}
            {"resumable":1}
            {"halt_all":"yes"}
            {"unknown":1}
            {"state":"OFF","transition":1}
            """#
        ),
        (
            "tag/TAG/haptic/set",
            #"""
            short
            long
            stop
            buzz
            """#
        ),
        (
            "tag/TAG/haptic/set",
            #"""
            {"pattern":"short"}
            {"pattern":"constant_on","on_ms":65535,"off_ms":65535,"amplitude":0,"repeat":256}
            {"pattern":"sine_increase","on_ms":200,"off_ms":100,"amplitude":80,"repeat":2}
            {"pattern":"sine_decrease","on_ms":0}
            {"pattern":"linear_increase","amplitude":100}
            {"pattern":"linear_decrease","repeat":1}
            {"pattern":"parabolic_increase"}
            {"pattern":"parabolic_decrease"}
            {"pattern":"short","on_ms":65536}
            {"pattern":"short","off_ms":65536}
            {"pattern":"short","amplitude":101}
            {"pattern":"short","repeat":257}
            {"pattern":"short","repeat":0}
            {"on_ms":5}
            """#
        ),
        (
            "tag/TAG/find/set",
            #"""
            start
            stop
            look
            {"find":"start","for_s":5}
            {"find":"start","for_s":300,"ttl_ms":600000}
            {"find":"start","for_s":4}
            {"find":"start","for_s":301}
            {"find":"stop"}
            """#
        ),
        (
            "tag/TAG/notify/set",
            #"""
            default
            doorbell
            success
            failure
            warning
            alarm
            tea
            nothing
            {"signal":"alarm"}
            {"message":"success"}
            {"signal":7}
            """#
        ),
        (
            "tag/TAG/touch_mode/set",
            #"""
            gesture
            continuous
            slide
            continuous
            gesture
            press
            """#
        ),
        (
            "tag/TAG/touch_mode/set",
            #"""
            {"touch_mode":"slide"}
            {"touch_mode":"continuous","ttl_ms":0}
            {"touch_mode":"none"}
            """#
        ),
        ("tag/TAG/battery/get", "{}"),
        ("tag/TAG/rssi/get", "{}"),
        (
            "tag/TAG/info/get",
            #"""
            {}
            {"component":"gear"}
            {"component":"tag"}
            {"component":"modules"}
            {"component":"sleeve"}
            """#
        ),
        ("tag/TAG/modules/get", "{}"),
        (
            "tag/TAG/modules/set",
            #"""
            {"module":"IMUModule","action":"activate"}
            {"module":"IMUModule","action":"deactivate"}
            {"module":"3d-0b-e7-53","action":"delete","confirm":"3d-0b-e7-54"}
            {"module":"IMUModule","action":"delete"}
            {"action":"activate"}
            {"module":"Other","action":"activate"}
            {"module":"IMUModule","action":"burn"}
            """#
        ),
        (
            "tag/TAG/raw/set",
            #"""
            {"views":["packet"]}
            {"views":["value","payload"]}
            {"views":[]}
            {"views":["byte"]}
            {"send":"0741"}
            {"send":""}
            {"send":"074"}
            {"send":"xx"}
            {}
            """#
        ),
        (
            "tag/TAG/imu/set",
            #"""
            {"action":"record","session":"run-1","accelerometer_hz":100,"gyroscope_hz":100}
            {"action":"record"}
            {"action":"record","session":"run-1","accelerometer_hz":5}
            stop
            {"action":"stop"}
            {"action":"download","session":"run-1"}
            {"action":"download","session":"run-1","erase":true}
            {"action":"stream","seconds":5}
            {"action":"stream","seconds":3601}
            {"action":"stream","format":"binary","seconds":3}
            {"action":"stream","format":"text"}
            {"action":"erase","session":"run-1"}
            {"action":"erase_all"}
            {"action":"erase_all","confirm":"all"}
            {"action":"activate"}
            {"action":"deactivate"}
            {"action":"jump"}
            """#
        ),
        ("tag/TAG/imu/get", "{}"),
        ("tag/TAG/imu/sessions/get", "{}"),
        (
            "tag/TAG/name/set",
            #"""
            Left sleeve
            {"name":"Right sleeve"}
            {"name":""}
            {"name":"A name of more than twenty-one bytes"}
            {"name":7}
            """#
        ),
        (
            "tag/TAG/config/get",
            #"""
            {"key":"colour"}
            {"key":"colour","vendor_id":"11-78-30-c8","product_id":"74-a8-ce-54"}
            {"key":"colour","vendor_id":"11-78-30"}
            {"key":""}
            {}
            """#
        ),
        (
            "tag/TAG/config/set",
            #"""
            {"key":"colour","type":"uint32","value":7}
            {"key":"colour","type":"uint32","value":4294967296}
            {"key":"colour","type":"int64","value":-7}
            {"key":"flag","type":"bool","value":true}
            {"key":"share","type":"double","value":0.25}
            {"key":"word","type":"string","value":"blue"}
            {"key":"word","type":"text","value":"blue"}
            {"key":"word","type":"bool","value":"blue"}
            {"key":"word"}
            """#
        ),
        (
            "tag/TAG/sleep/set",
            #"""
            {"timeout_s":0}
            {"timeout_s":5,"wake_on_motion":true}
            {"timeout_s":86401}
            {"wake_on_motion":1}
            """#
        ),
        (
            "tag/TAG/connection/set",
            #"""
            disconnect
            connect
            connect
            {"connection":"connect","ttl_ms":60000}
            {"connection":"disconnect"}
            {"connection":"maybe"}
            """#
        ),
        ("tag/TAG/dance/set", "{}"),
        ("tag/9999/led/set", "{}"),
        ("group/hall/led/set", "red\n{\"state\":\"OFF\"}\n{\"state\":7}"),
        ("group/hall/battery/get", "{}"),
        ("group/hall/name/set", "{\"name\":\"x\"}"),
        ("group/hall/connection/set", "connect"),
        ("group/cellar/led/set", "{}"),
        (
            "bridge/BRIDGE/request/scan",
            #"""
            {}
            {"duration_s":5,"duplicates":true}
            {"duration_s":0}
            {"duration_s":3601}
            stop
            {"scan":"stop"}
            {"scan":"pause"}
            """#
        ),
        (
            "bridge/BRIDGE/request/pair",
            #"""
            {"serial":"TAG","timeout_s":5}
            {"serial":"TAG","timeout_s":60}
            {"serial":"TAG","timeout_s":30}
            {"serial":"TAG","check":true}
            {"serial":"TAG","radio":"hall"}
            {"serial":"99ZZ","timeout_s":1}
            {"serial":"TAG","timeout_s":301}
            {"serial":"?"}
            {"pair":"stop"}
            stop
            {}
            """#
        ),
        ("bridge/BRIDGE/request/pair_serial", "TAG\n{\"serial\":\"\"}\n{\"serial\":\"?\"}"),
        ("bridge/BRIDGE/request/forget", "{\"tag\":\"9999\"}\n{}\n{\"tag\":7}"),
        ("bridge/BRIDGE/request/tags", "{}"),
        ("bridge/BRIDGE/request/health", "{}"),
        ("bridge/BRIDGE/request/refresh", "{}"),
        ("bridge/BRIDGE/request/log_level", "{\"level\":\"debug\"}\n{\"level\":\"info\"}\n{\"level\":\"loud\"}"),
        ("bridge/BRIDGE/request/doctor", "{}\n{\"tag\":\"9999\"}"),
        (
            "bridge/BRIDGE/request/log",
            #"""
            {"level":"info","duration_s":10}
            {"level":"warning","tag":"TAG","past_s":600}
            {"duration_s":0}
            {"past_s":601}
            {"duration_s":3601}
            {"tag":"9999"}
            """#
        ),
        (
            "bridge/BRIDGE/request/trace",
            #"""
            {}
            {"tag":"TAG","count":10}
            {"tag":"TAG","seq":1}
            {"tag":"TAG","seq":1000000}
            {"count":0}
            {"count":101}
            {"seq":1}
            """#
        ),
        ("bridge/BRIDGE/request/battery_history", "{\"tag\":\"TAG\"}\n{}\n{\"tag\":\"9999\"}"),
        ("bridge/BRIDGE/request/metrics", "{}\n{\"after\":\"TAG\"}\n{\"after\":7}"),
        (
            "bridge/BRIDGE/request/gatt",
            #"""
            {"tag":"TAG","duration_s":10}
            stop
            {"tag":"9999"}
            {}
            {"tag":"TAG","duration_s":3601}
            """#
        ),
        ("bridge/BRIDGE/request/reboot", "{}"),
    ]
}
