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
        func filled(_ text: Substring) -> String {
            String(text).replacing("TAG", with: tag).replacing("BRIDGE", with: bridge)
        }
        let text = filled(payload), id = "\"id\":\"e\(count)\"}"
        let whole = text.hasPrefix("{") ? String(text.dropLast()) + (text == "{}" ? "" : ",") + id : text
        let command = (topic: "jacquard/" + filled(topic), payload: whole)
        latest = command
        world.people.send(command.topic, command.payload, id: nil)
    }

    /// A JSON object gets an `id`.
    private static let rows: [(topic: Substring, payload: Substring)] = table.split(separator: "\n").map { line in
        let parts = line.split(separator: " ", maxSplits: 1)
        return (parts[0], parts[1])
    }

    /// A topic and a payload in each line. Source of the keys and their limits: the article "MQTT topics".
    private static let table = #"""
        tag/TAG/led/set flash
        tag/TAG/led/set on
        tag/TAG/led/set off
        tag/TAG/led/set ON
        tag/TAG/led/set OFF
        tag/TAG/led/set red
        tag/TAG/led/set green
        tag/TAG/led/set blue
        tag/TAG/led/set yellow
        tag/TAG/led/set cyan
        tag/TAG/led/set magenta
        tag/TAG/led/set orange
        tag/TAG/led/set purple
        tag/TAG/led/set pink
        tag/TAG/led/set white
        tag/TAG/led/set #ff8000
        tag/TAG/led/set mauve
        tag/TAG/led/set {"state":"ON"}
        tag/TAG/led/set {"state":"ON","color":{"r":255,"g":0,"b":0},"brightness":200,"effect":"breathe"}
        tag/TAG/led/set {"state":"ON","brightness":0}
        tag/TAG/led/set {"state":"ON","effect":"pulse","transition":2}
        tag/TAG/led/set {"state":"ON","effect":"solid","color":"pink"}
        tag/TAG/led/set {"state":"ON","effect":"blink"}
        tag/TAG/led/set {"state":"ON","effect":"double_blink","brightness":255}
        tag/TAG/led/set {"state":"ON","effect":"triple_blink","flash":2.5}
        tag/TAG/led/set {"color":"#ff0000","pattern":"breathing","duration_ms":2000,"component":"tag"}
        tag/TAG/led/set {"color":"#00ff00","pattern":"pulsing","duration_ms":1,"component":"gear"}
        tag/TAG/led/set {"pattern":"single_blink","duration_ms":86400000}
        tag/TAG/led/set {"pattern":"double_blink","resumable":true}
        tag/TAG/led/set {"pattern":"triple_blink","play":"toggle"}
        tag/TAG/led/set {"pattern":"custom","frames":[{"color":"red","duration_ms":50},{"color":"#0000ff","duration_ms":70}]}
        tag/TAG/led/set {"frames":[{"color":"#ff0000","duration_ms":100}],"duration_ms":2000,"resumable":true,"play":"toggle"}
        tag/TAG/led/set {"frames":[]}
        tag/TAG/led/set {"frames":[{"color":"red"}]}
        tag/TAG/led/set {"frames":[{"color":"red","duration_ms":0}]}
        tag/TAG/led/set {"frames":7}
        tag/TAG/led/set {"halt_all":true}
        tag/TAG/led/set {"halt_all":true,"component":"gear"}
        tag/TAG/led/set {"flash":0.001}
        tag/TAG/led/set {"flash":86400}
        tag/TAG/led/set {"flash":86401}
        tag/TAG/led/set {"flash":0}
        tag/TAG/led/set {"duration_ms":0}
        tag/TAG/led/set {"duration_ms":86400001}
        tag/TAG/led/set {"duration_ms":1.5}
        tag/TAG/led/set {"brightness":256}
        tag/TAG/led/set {"brightness":-1}
        tag/TAG/led/set {"color":{"r":256,"g":0,"b":0}}
        tag/TAG/led/set {"color":{"r":1}}
        tag/TAG/led/set {"color":"#12345"}
        tag/TAG/led/set {"state":"on"}
        tag/TAG/led/set {"state":"ON","state":"OFF"}
        tag/TAG/led/set {"state":"OFF","ttl_ms":0}
        tag/TAG/led/set {"state":"ON","ttl_ms":86400000}
        tag/TAG/led/set {"state":"ON","ttl_ms":86400001}
        tag/TAG/led/set {"component":"both"}
        tag/TAG/led/set {"play":"stop"}
        tag/TAG/led/set {"resumable":1}
        tag/TAG/led/set {"halt_all":"yes"}
        tag/TAG/led/set {"unknown":1}
        tag/TAG/led/set {"state":"OFF","transition":1}
        tag/TAG/haptic/set short
        tag/TAG/haptic/set long
        tag/TAG/haptic/set stop
        tag/TAG/haptic/set buzz
        tag/TAG/haptic/set {"pattern":"short"}
        tag/TAG/haptic/set {"pattern":"constant_on","on_ms":65535,"off_ms":65535,"amplitude":0,"repeat":256}
        tag/TAG/haptic/set {"pattern":"sine_increase","on_ms":200,"off_ms":100,"amplitude":80,"repeat":2}
        tag/TAG/haptic/set {"pattern":"sine_decrease","on_ms":0}
        tag/TAG/haptic/set {"pattern":"linear_increase","amplitude":100}
        tag/TAG/haptic/set {"pattern":"linear_decrease","repeat":1}
        tag/TAG/haptic/set {"pattern":"parabolic_increase"}
        tag/TAG/haptic/set {"pattern":"parabolic_decrease"}
        tag/TAG/haptic/set {"pattern":"short","on_ms":65536}
        tag/TAG/haptic/set {"pattern":"short","off_ms":65536}
        tag/TAG/haptic/set {"pattern":"short","amplitude":101}
        tag/TAG/haptic/set {"pattern":"short","repeat":257}
        tag/TAG/haptic/set {"pattern":"short","repeat":0}
        tag/TAG/haptic/set {"on_ms":5}
        tag/TAG/find/set start
        tag/TAG/find/set stop
        tag/TAG/find/set look
        tag/TAG/find/set {"find":"start","for_s":5}
        tag/TAG/find/set {"find":"start","for_s":300,"ttl_ms":600000}
        tag/TAG/find/set {"find":"start","for_s":4}
        tag/TAG/find/set {"find":"start","for_s":301}
        tag/TAG/find/set {"find":"stop"}
        tag/TAG/notify/set default
        tag/TAG/notify/set doorbell
        tag/TAG/notify/set success
        tag/TAG/notify/set failure
        tag/TAG/notify/set warning
        tag/TAG/notify/set alarm
        tag/TAG/notify/set tea
        tag/TAG/notify/set nothing
        tag/TAG/notify/set {"signal":"alarm"}
        tag/TAG/notify/set {"message":"success"}
        tag/TAG/notify/set {"signal":7}
        tag/TAG/touch_mode/set gesture
        tag/TAG/touch_mode/set continuous
        tag/TAG/touch_mode/set slide
        tag/TAG/touch_mode/set continuous
        tag/TAG/touch_mode/set gesture
        tag/TAG/touch_mode/set press
        tag/TAG/touch_mode/set {"touch_mode":"slide"}
        tag/TAG/touch_mode/set {"touch_mode":"continuous","ttl_ms":0}
        tag/TAG/touch_mode/set {"touch_mode":"none"}
        tag/TAG/battery/get {}
        tag/TAG/rssi/get {}
        tag/TAG/info/get {}
        tag/TAG/info/get {"component":"gear"}
        tag/TAG/info/get {"component":"tag"}
        tag/TAG/info/get {"component":"modules"}
        tag/TAG/info/get {"component":"sleeve"}
        tag/TAG/modules/get {}
        tag/TAG/modules/set {"module":"IMUModule","action":"activate"}
        tag/TAG/modules/set {"module":"IMUModule","action":"deactivate"}
        tag/TAG/modules/set {"module":"3d-0b-e7-53","action":"delete","confirm":"3d-0b-e7-54"}
        tag/TAG/modules/set {"module":"IMUModule","action":"delete"}
        tag/TAG/modules/set {"action":"activate"}
        tag/TAG/modules/set {"module":"Other","action":"activate"}
        tag/TAG/modules/set {"module":"IMUModule","action":"burn"}
        tag/TAG/raw/set {"views":["packet"]}
        tag/TAG/raw/set {"views":["value","payload"]}
        tag/TAG/raw/set {"views":[]}
        tag/TAG/raw/set {"views":["byte"]}
        tag/TAG/raw/set {"send":"0741"}
        tag/TAG/raw/set {"send":""}
        tag/TAG/raw/set {"send":"074"}
        tag/TAG/raw/set {"send":"xx"}
        tag/TAG/raw/set {}
        tag/TAG/imu/set {"action":"record","session":"run-1","accelerometer_hz":100,"gyroscope_hz":100}
        tag/TAG/imu/set {"action":"record"}
        tag/TAG/imu/set {"action":"record","session":"run-1","accelerometer_hz":5}
        tag/TAG/imu/set stop
        tag/TAG/imu/set {"action":"stop"}
        tag/TAG/imu/set {"action":"download","session":"run-1"}
        tag/TAG/imu/set {"action":"download","session":"run-1","erase":true}
        tag/TAG/imu/set {"action":"stream","seconds":5}
        tag/TAG/imu/set {"action":"stream","seconds":3601}
        tag/TAG/imu/set {"action":"stream","format":"binary","seconds":3}
        tag/TAG/imu/set {"action":"stream","format":"text"}
        tag/TAG/imu/set {"action":"erase","session":"run-1"}
        tag/TAG/imu/set {"action":"erase_all"}
        tag/TAG/imu/set {"action":"erase_all","confirm":"all"}
        tag/TAG/imu/set {"action":"activate"}
        tag/TAG/imu/set {"action":"deactivate"}
        tag/TAG/imu/set {"action":"jump"}
        tag/TAG/imu/get {}
        tag/TAG/imu/sessions/get {}
        tag/TAG/name/set Left sleeve
        tag/TAG/name/set {"name":"Right sleeve"}
        tag/TAG/name/set {"name":""}
        tag/TAG/name/set {"name":"A name of more than twenty-one bytes"}
        tag/TAG/name/set {"name":7}
        tag/TAG/config/get {"key":"colour"}
        tag/TAG/config/get {"key":"colour","vendor_id":"11-78-30-c8","product_id":"74-a8-ce-54"}
        tag/TAG/config/get {"key":"colour","vendor_id":"11-78-30"}
        tag/TAG/config/get {"key":""}
        tag/TAG/config/get {}
        tag/TAG/config/set {"key":"colour","type":"uint32","value":7}
        tag/TAG/config/set {"key":"colour","type":"uint32","value":4294967296}
        tag/TAG/config/set {"key":"colour","type":"int64","value":-7}
        tag/TAG/config/set {"key":"flag","type":"bool","value":true}
        tag/TAG/config/set {"key":"share","type":"double","value":0.25}
        tag/TAG/config/set {"key":"word","type":"string","value":"blue"}
        tag/TAG/config/set {"key":"word","type":"text","value":"blue"}
        tag/TAG/config/set {"key":"word","type":"bool","value":"blue"}
        tag/TAG/config/set {"key":"word"}
        tag/TAG/sleep/set {"timeout_s":0}
        tag/TAG/sleep/set {"timeout_s":5,"wake_on_motion":true}
        tag/TAG/sleep/set {"timeout_s":86401}
        tag/TAG/sleep/set {"wake_on_motion":1}
        tag/TAG/connection/set disconnect
        tag/TAG/connection/set connect
        tag/TAG/connection/set connect
        tag/TAG/connection/set {"connection":"connect","ttl_ms":60000}
        tag/TAG/connection/set {"connection":"disconnect"}
        tag/TAG/connection/set {"connection":"maybe"}
        tag/TAG/dance/set {}
        tag/9999/led/set {}
        group/hall/led/set red
        group/hall/led/set {"state":"OFF"}
        group/hall/led/set {"state":7}
        group/hall/battery/get {}
        group/hall/name/set {"name":"x"}
        group/hall/connection/set connect
        group/cellar/led/set {}
        bridge/BRIDGE/request/scan {}
        bridge/BRIDGE/request/scan {"duration_s":5,"duplicates":true}
        bridge/BRIDGE/request/scan {"duration_s":0}
        bridge/BRIDGE/request/scan {"duration_s":3601}
        bridge/BRIDGE/request/scan stop
        bridge/BRIDGE/request/scan {"scan":"stop"}
        bridge/BRIDGE/request/scan {"scan":"pause"}
        bridge/BRIDGE/request/pair {"serial":"TAG","timeout_s":5}
        bridge/BRIDGE/request/pair {"serial":"TAG","timeout_s":60}
        bridge/BRIDGE/request/pair {"serial":"TAG","timeout_s":30}
        bridge/BRIDGE/request/pair {"serial":"TAG","check":true}
        bridge/BRIDGE/request/pair {"serial":"TAG","radio":"hall"}
        bridge/BRIDGE/request/pair {"serial":"99ZZ","timeout_s":1}
        bridge/BRIDGE/request/pair {"serial":"TAG","timeout_s":301}
        bridge/BRIDGE/request/pair {"serial":"?"}
        bridge/BRIDGE/request/pair {"pair":"stop"}
        bridge/BRIDGE/request/pair stop
        bridge/BRIDGE/request/pair {}
        bridge/BRIDGE/request/pair_serial TAG
        bridge/BRIDGE/request/pair_serial {"serial":""}
        bridge/BRIDGE/request/pair_serial {"serial":"?"}
        bridge/BRIDGE/request/forget {"tag":"9999"}
        bridge/BRIDGE/request/forget {}
        bridge/BRIDGE/request/forget {"tag":7}
        bridge/BRIDGE/request/tags {}
        bridge/BRIDGE/request/health {}
        bridge/BRIDGE/request/refresh {}
        bridge/BRIDGE/request/log_level {"level":"debug"}
        bridge/BRIDGE/request/log_level {"level":"info"}
        bridge/BRIDGE/request/log_level {"level":"loud"}
        bridge/BRIDGE/request/doctor {}
        bridge/BRIDGE/request/doctor {"tag":"9999"}
        bridge/BRIDGE/request/log {"level":"info","duration_s":10}
        bridge/BRIDGE/request/log {"level":"warning","tag":"TAG","past_s":600}
        bridge/BRIDGE/request/log {"duration_s":0}
        bridge/BRIDGE/request/log {"past_s":601}
        bridge/BRIDGE/request/log {"duration_s":3601}
        bridge/BRIDGE/request/log {"tag":"9999"}
        bridge/BRIDGE/request/trace {}
        bridge/BRIDGE/request/trace {"tag":"TAG","count":10}
        bridge/BRIDGE/request/trace {"tag":"TAG","seq":1}
        bridge/BRIDGE/request/trace {"tag":"TAG","seq":1000000}
        bridge/BRIDGE/request/trace {"count":0}
        bridge/BRIDGE/request/trace {"count":101}
        bridge/BRIDGE/request/trace {"seq":1}
        bridge/BRIDGE/request/battery_history {"tag":"TAG"}
        bridge/BRIDGE/request/battery_history {}
        bridge/BRIDGE/request/battery_history {"tag":"9999"}
        bridge/BRIDGE/request/metrics {}
        bridge/BRIDGE/request/metrics {"after":"TAG"}
        bridge/BRIDGE/request/metrics {"after":7}
        bridge/BRIDGE/request/gatt {"tag":"TAG","duration_s":10}
        bridge/BRIDGE/request/gatt stop
        bridge/BRIDGE/request/gatt {"tag":"9999"}
        bridge/BRIDGE/request/gatt {}
        bridge/BRIDGE/request/gatt {"tag":"TAG","duration_s":3601}
        bridge/BRIDGE/request/reboot {}
        """#
}
