import JacquardProtocol
import Testing
import Text

@testable import GATTRecording

@Suite("Scrubbing")
struct TrafficScrubberTests {
    private static let uuid = "0-07-9324FLHBK0003R-1903"

    /// A recording with a serial number that is spread over two fragments, and a name.
    private static func recording() throws -> TrafficRecording {
        var tag = RecordedTag()
        tag.add(.connected)
        try tag.request(RecordedTag.information, id: 1)
        try tag.respond(
            Response(
                id: 1,
                body: .deviceInfo(
                    DeviceInfoResponse(
                        vendor: "Google Incorporated, Mountain View", model: "UJT", revision: 4, uuid: uuid))))
        var ble = BLEConfiguration()
        ble.customAdvertisedName = "Anna's jacket"
        try tag.request(
            Request(domain: .base, opcode: .configWrite, body: .configWrite(TagConfiguration(ble: ble))), id: 2)
        let element = ConfigElement(key: "owner", value: .string("Anna"))
        try tag.request(
            Request(
                domain: .base, opcode: .configSet,
                body: .configSet(ConfigSetRequest(vendorID: .google, productID: .tag, element: element))), id: 3)
        tag.add(.disconnected(reason: "org.bluez.Error.Failed: F0:00:00:00:00:01 of 003R"))
        return tag.recording
    }

    @Test("finds the texts of the recording that identify the tag and its owner")
    func texts() throws {
        let texts = TrafficScrubber.texts(in: try Self.recording())
        #expect(texts == [Self.uuid, "003R", "Anna's jacket", "Anna"])
    }

    @Test("replaces texts in packets, also across fragments, and keeps the packets valid")
    func packets() throws {
        let recording = try Self.recording()
        let scrubbed = TrafficScrubber(texts: TrafficScrubber.texts(in: recording)).scrubbed(recording)
        #expect(scrubbed.records.count == recording.records.count)
        let packets = scrubbed.linkEvents.compactMap { event -> [UInt8]? in
            switch event {
            case .request(let packet), .received(let packet): packet.packet
            case .other: nil
            }
        }
        #expect(packets.count == 4)
        guard case .deviceInfo(let information)? = try Response.decode(packets[1][...]).body else {
            throw RecordingError("another body")
        }
        #expect(information.uuid == "X-XX-XXXXXXXXXXXXXX-XXXX")
        #expect(information.vendor == "Google Incorporated, Mountain View")
        guard case .configWrite(let settings)? = try Request.decode(packets[2][...]).request.body else {
            throw RecordingError("another body")
        }
        #expect(settings.ble?.customAdvertisedName == "XXXXXX XXXXXX")
        guard case .configSet(let store)? = try Request.decode(packets[3][...]).request.body else {
            throw RecordingError("another body")
        }
        #expect(store.element?.value == .string("XXXX") && store.element?.key == "owner")
        #expect(
            scrubbed.records.last?.event == .disconnected(reason: "org.bluez.Error.Failed: XX:XX:XX:XX:XX:XX of XXXX"))
        for text in ["003R", "Anna"] {
            #expect(!scrubbed.text.contains(Array(text.utf8).hex), "\(text)")
        }
    }

    @Test(
        "replaces whole words and addresses in text",
        arguments: [
            ("tag=0001 t=10001", "tag=XXXX t=10001"), ("0001", "XXXX"), ("Jacquard-0001 x", "Jacquard-XXXX x"),
            ("/org/bluez/hci0/dev_F0_00_00_00_00_01", "/org/bluez/hci0/dev_XX_XX_XX_XX_XX_XX"),
            ("f0:0a:00:00:00:01", "XX:XX:XX:XX:XX:XX"), ("10:15:02 F0:00", "10:15:02 F0:00"),
            ("Left sleeve", "XXXX XXXXXX"), ("", ""), ("a", "a"),
        ])
    func text(text: String, expected: String) {
        #expect(TrafficScrubber(texts: ["0001", "Left sleeve", "a", ""]).scrubbed(text) == expected)
    }

    @Test("replaces the longest text first")
    func order() {
        #expect(TrafficScrubber(texts: ["003R", Self.uuid]).scrubbed(Self.uuid) == "X-XX-XXXXXXXXXXXXXX-XXXX")
    }
}
