import JSON
import JacquardProtocol
import Testing
import Text

@testable import GATTRecording

@Suite("A recording of Bluetooth traffic")
struct TrafficRecordingTests {
    /// Every kind of event.
    private static let events: [TrafficRecord.Event] = [
        .connected, .mtu(247),
        .characteristics([.command: [.write, .writeWithoutResponse], .notify: [.notify]]),
        .subscribed(.response), .subscribeFailed(.rawData, reason: "org.bluez.Error.Failed: no"),
        .write([0xC0, 0x01, 0xFF], on: .command, withResponse: true), .written,
        .write([], on: .rawData, withResponse: false), .writeFailed(reason: "refused"),
        .notified([0, 1, 0xAB], on: .notify), .disconnected(reason: "lost"), .disconnected(reason: nil),
        .end(reason: "duration"),
    ]

    private static func recording(_ events: [TrafficRecord.Event] = events) -> TrafficRecording {
        TrafficRecording(
            records: events.enumerated().map {
                TrafficRecord(number: $0 + 1, microseconds: Int64($0) * 1_000, event: $1)
            })
    }

    @Test("is the same after it was written and parsed")
    func roundTrip() throws {
        let recording = Self.recording()
        #expect(try TrafficRecording(parsing: Array(recording.text.utf8)) == recording)
        #expect(recording.lost == 0)
    }

    @Test("has one JSON document on each line, with the header first")
    func format() {
        let lines = Self.recording([.connected, .write([1, 0xAB], on: .command, withResponse: false)]).text
        #expect(
            lines == """
                {"format":"jacquard-gatt","version":1}
                {"event":"connected","n":1,"t_us":0}
                {"event":"write","n":2,"on":"command","response":false,"t_us":1000,"value":"01ab"}

                """)
    }

    @Test("is found in a report, between the sections around it")
    func report() throws {
        let text = "A report\n{\"a\":1}\n== recording ==\n\(Self.recording().text)\n== log ==\nsomething\n"
        #expect(try TrafficRecording(parsing: Array(text.utf8)) == Self.recording())
    }

    @Test("counts the records that are missing")
    func gaps() throws {
        var recording = Self.recording()
        recording.records.remove(at: 3)
        #expect(try TrafficRecording(parsing: Array(recording.text.utf8)).lost == 1)
    }

    @Test(
        "has a sentence with the line for what is no recording",
        arguments: [
            ("", "there is no recording"), (#"{"format":"other"}"#, "there is no recording"),
            (#"{"format":"jacquard-gatt","version":2}"#, "line 1: version 2"),
            (#"{"format":"jacquard-gatt"}"#, "line 1: version none"),
            ("{\"format\":\"jacquard-gatt\",\"version\":1}\nhello", "line 2: not a record"),
            (line(#"{"n":1,"t_us":0}"#), "line 2: not a record"),
            (line(#"{"n":0,"t_us":0,"event":"connected"}"#), "line 2: not a record"),
            (line(#"{"n":60000,"t_us":0,"event":"connected"}"#), "line 2: not a record"),
            (line(#"{"n":1,"t_us":-1,"event":"connected"}"#), "line 2: not a record"),
            (line(#"{"n":1,"t_us":0,"event":"fly"}"#), "line 2: not a record"),
            (line(#"{"n":1,"t_us":0,"event":"mtu","mtu":22}"#), "line 2: not a record"),
            (line(#"{"n":1,"t_us":0,"event":"notified","on":"notify","value":"abc"}"#), "line 2: not a record"),
            (line(#"{"n":1,"t_us":0,"event":"notified","on":"battery","value":"ab"}"#), "line 2: not a record"),
            (
                line(#"{"n":2,"t_us":0,"event":"connected"}"#, #"{"n":2,"t_us":0,"event":"connected"}"#),
                "line 3: n and t_us must increase"
            ),
            (
                line(#"{"n":2,"t_us":5,"event":"connected"}"#, #"{"n":3,"t_us":4,"event":"connected"}"#),
                "line 3: n and t_us must increase"
            ),
        ])
    func errors(text: String, expected: String) {
        #expect {
            try TrafficRecording(parsing: Array(text.utf8))
        } throws: { error in
            "\(error)".hasPrefix(expected)
        }
    }

    private static func line(_ lines: String...) -> String {
        ([TrafficRecording.header.text] + lines).joined(separator: "\n")
    }

    @Test("is bounded: the text, a line, a value and a reason")
    func bounds() throws {
        let long = [UInt8](repeating: UInt8(ascii: "\n"), count: TrafficRecording.maxTextBytes + 1)
        #expect(throws: RecordingError.self) { try TrafficRecording(parsing: long) }
        func text(_ value: Int) -> [UInt8] {
            Array(Self.recording([.notified(Array(repeating: 7, count: value), on: .rawData)]).text.utf8)
        }
        #expect(try TrafficRecording(parsing: text(512)).records.count == 1)
        #expect(throws: RecordingError.self) { try TrafficRecording(parsing: text(513)) }
        let reason = Self.recording([.writeFailed(reason: String(repeating: "x", count: 3_000))])
        guard case .writeFailed(let shortened) = try TrafficRecording(parsing: Array(reason.text.utf8)).records[0].event
        else { throw RecordingError("another event") }
        #expect(shortened.utf8.count == 256)
    }

    @Test("reads bytes from hexadecimal digits only", arguments: ["0", "0g", "zz", "0x", " 1", "+1", "٠٠"])
    func hexadecimal(text: String) {
        #expect([UInt8](hex: text) == nil)
        #expect([UInt8](hex: "00fFA5") == [0, 255, 165])
        #expect([UInt8](hex: "") == [])
        #expect([0, 255, 165].hex == "00ffa5")
    }
}
