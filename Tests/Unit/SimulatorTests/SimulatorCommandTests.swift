import FakeBlueZ
import FakeProxy
import JacquardProtocol
import Simulator
import TagFirmware
import Testing

@Suite("Simulator: typed commands")
struct SimulatorCommandTests {
    private static let tag = TagSelection.serial("0001")

    static let commands: [(String, SimulatorCommand)] = [
        ("gesture 0001 double_tap", .tags(tag, .play(Burst(.gesture(.doubleTap))))),
        ("gesture 0001 cover 3", .tags(tag, .play(Burst(.gesture(.shortCover), count: 3)))),
        ("  gesture * cycle 100 2.5\r", .tags(.all, .play(Burst(.cycle, count: 100, rate: 2.5)))),
        ("gesture 0001 99", .tags(tag, .play(Burst(.gesture(Gesture(rawValue: 99)))))),
        ("touch 0001", .tags(tag, .play(Burst(.stroke)))),
        ("touch 0001 10 20", .tags(tag, .play(Burst(.stroke, count: 10, rate: 20)))),
        ("touch 0001 0,1,2,3,4,5,6,7,8,9,10,11,128", .tags(tag, .play(Burst(.touch([UInt8](0...11) + [128]))))),
        ("battery 0001 42", .tags(tag, .battery(level: 42, isCharging: nil))),
        ("battery 0001 42 charging", .tags(tag, .battery(level: 42, isCharging: true))),
        ("battery 0001 0 not_charging", .tags(tag, .battery(level: 0, isCharging: false))),
        ("notify 0001 0800101e", .tags(tag, .notify([0x08, 0x00, 0x10, 0x1E]))),
        ("detach 0001", .tags(tag, .detach)),
        ("out-of-range 0001", .tags(tag, .range(isIn: false))),
        ("in-range 0001", .tags(tag, .range(isIn: true))),
        ("sleep 0001", .tags(tag, .sleep)),
        ("button 0001", .tags(tag, .button)),
        ("fault 0001 drop-response", .tags(tag, .fault(.drop, isOnce: false))),
        ("fault 0001 delay 700 once", .tags(tag, .fault(.delay(.milliseconds(700)), isOnce: true))),
        ("fault 0001 status 7", .tags(tag, .fault(.status(7), isOnce: false))),
        ("fault 0001 no-write-with-response", .tags(tag, .refusesWrites)),
        ("fault 0001 clear", .tags(tag, .fault(nil, isOnce: false))),
        ("adapter off", .adapter(isOn: false, number: nil)),
        ("adapter on 1", .adapter(isOn: true, number: 1)),
        ("adapter unplug", .plug(isIn: false, number: 0)),
        ("adapter plug 1", .plug(isIn: true, number: 1)),
        ("bluez ignore Connect", .blueZFault(.ignore(member: "Connect"))),
        (
            "bluez refuse Connect Failed le-connection-abort",
            .blueZFault(.refuse(member: "Connect", error: "org.bluez.Error.Failed", text: "le-connection-abort"))
        ),
        (
            "bluez refuse Get org.freedesktop.DBus.Error.NoReply",
            .blueZFault(.refuse(member: "Get", error: "org.freedesktop.DBus.Error.NoReply", text: ""))
        ),
        ("bluez hide-services", .blueZFault(.hideServices)),
        ("bluez hide-characteristics", .blueZFault(.hideCharacteristics)),
        ("bluez resolve-nothing", .blueZFault(.resolveNothing)),
        ("bluez end-discovery", .blueZFault(.endDiscovery)),
        ("bluez remove-devices", .blueZFault(.removeDevices)),
        ("bluez close-descriptors", .blueZFault(.closeDescriptors)),
        ("bluez clear", .blueZFault(.clear)),
        ("esphome drop", .proxyFault(.drop)),
        ("esphome silent", .proxyFault(.silent)),
        ("esphome taken", .proxyFault(.taken)),
        ("esphome slots 1", .proxyFault(.slots(1))),
        ("esphome clear", .proxyFault(.clear)),
        ("crash-bluez", .crashBlueZ(.milliseconds(1000))),
        ("crash-bluez 50", .crashBlueZ(.milliseconds(50))),
        ("lose-bond 0001", .loseBond(tag)), ("lose-bond *", .loseBond(.all)), ("list", .list), ("help", .help),
        ("quit", .quit),
    ]

    @Test("parses typed commands", arguments: commands)
    func parses(line: String, command: SimulatorCommand) throws {
        #expect(try SimulatorCommand.parse(line) == command)
    }

    @Test("accepts the word of each gear", arguments: SimulatedGear.all)
    func gear(gear: SimulatedGear) throws {
        #expect(try SimulatorCommand.parse("attach 0001 \(gear.word)") == .tags(Self.tag, .attach(gear)))
    }

    static let mistakes: [(String, String)] = [
        ("", "unknown command ''; commands are adapter, attach,"),
        ("fly 0001", "unknown command 'fly'; commands are adapter, attach,"),
        ("notify 0001", "notify needs 1 to 1024 bytes in hexadecimal"),
        ("notify 0001 123", "notify needs 1 to 1024 bytes in hexadecimal"),
        ("notify 0001 zz", "notify needs 1 to 1024 bytes in hexadecimal"),
        ("gesture", "gesture needs a tag's serial or address, or * for all tags"),
        ("gesture 0001", "'' is no gesture; gestures are double_tap, brush_in,"),
        ("gesture 0001 wave", "'wave' is no gesture; gestures are double_tap, brush_in,"),
        ("gesture 0001 cycle 0", "'0' is no COUNT; COUNT is 1 to 10000000"),
        ("gesture 0001 cycle 1 0", "'0' is no RATE; RATE is how many a second, above 0"),
        ("gesture 0001 cycle 1 1 1", "'1' is one word too many"),
        ("touch 0001 1,2", "a touch is 13 numbers from 0 to 128"),
        ("touch 0001 0,1,2,3,4,5,6,7,8,9,10,11,129", "a touch is 13 numbers from 0 to 128"),
        ("battery 0001", "battery needs a level from 0 to 100"),
        ("battery 0001 101", "'101' is no LEVEL; LEVEL is 0 to 100"),
        ("battery 0001 42 maybe", "battery takes charging or not_charging, not 'maybe'"),
        ("attach 0001 hat", "'hat' is no gear; gear is jacket, konnect-i,"),
        ("fault 0001 fire", "'fire' is no fault; faults are double, drop-response,"),
        ("fault 0001 delay", "delay needs milliseconds"),
        ("adapter", "adapter takes off or on or plug or unplug, not ''"),
        ("bluez", "'' is no fault; faults are clear, close-descriptors,"),
        ("bluez ignore", "a MEMBER is missing"),
        ("bluez refuse Connect", "an ERROR is missing"),
        ("esphome", "'' is no fault; faults are clear, drop, silent, taken, slots N"),
        ("esphome slots", "slots needs a number, 0 to 9"),
        ("esphome slots 10", "'10' is no N; N is 0 to 9"),
        ("crash-bluez soon", "'soon' is no MS; MS is 0 to 3600000"),
    ]

    @Test("lists the allowed words in an error", arguments: mistakes)
    func explains(line: String, sentence: String) {
        let error = #expect(throws: CommandError.self) { try SimulatorCommand.parse(line) }
        #expect(error?.description.hasPrefix(sentence) == true, "\(String(describing: error))")
    }
}
