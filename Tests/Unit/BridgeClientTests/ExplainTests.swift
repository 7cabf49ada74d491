import BrokerAccess
import CommandLine
import JSON
import Testing

@testable import BridgeClient

@Suite("The sentences of explain")
struct ExplainTests {
    private func document(_ text: String) throws -> JSONValue {
        try #require(JSONValue(parsing: Array(text.utf8)), "\(text)")
    }

    @Test(
        "takes numbers that are far out of range for a long time",
        arguments: ["queued", "acknowledged", "waiting", "sent"])
    func absurd(stage: String) {
        let keys = ["queued_us", "reassembled_us", "released_us", "written_us", "ended_us", "age_ms", "sent_us"]
        for number in [Int64.min, -1, Int64.max] {
            var trace = Dictionary(uniqueKeysWithValues: keys.map { ($0, JSONValue.integer(number)) })
            trace["stage"] = .string(stage)
            #expect(ExplainText.gesture(.object(trace)).hasSuffix("s") || stage != "waiting")
            #expect(!ExplainText.command(.object(trace)).isEmpty)
        }
    }

    @Test(
        "name the last stage of a gesture, and its cause",
        arguments: [
            (
                #""stage":"acknowledged","queued_us":300,"written_us":400,"ended_us":1300,"reason":0"#,
                "queued after 0.3 ms, written after 0.4 ms, acknowledged after 1.3 ms"
            ),
            (
                #""stage":"acknowledged","queued_us":300,"written_us":400,"ended_us":1300,"reason":16"#,
                "queued after 0.3 ms, written after 0.4 ms, acknowledged after 1.3 ms: "
                    + "no client is subscribed to its topic"
            ),
            (
                #""stage":"acknowledged","queued_us":300,"written_us":400,"ended_us":1500400,"reason":0"#,
                "queued after 0.3 ms, written after 0.4 ms, acknowledged after 1.5 s: the broker was slow, it took 1.5 s"
            ),
            (
                #""stage":"acknowledged","queued_us":300,"written_us":null,"ended_us":1300,"reason":null"#,
                "queued after 0.3 ms, acknowledged after 1.3 ms (MQTT 3.1.1: the broker gives no reason)"
            ),
            (
                #""stage":"acknowledged","queued_us":3000200,"written_us":3000300,"ended_us":3001000,"reason":0,"#
                    + #""waited_for":"broker","repeated":true"#,
                "sent again after a lost connection, waited 3.0 s for a connection to the broker, "
                    + "queued after 3.0 s, written after 3.0 s, acknowledged after 3.0 s"
            ),
            (
                #""stage":"acknowledged","queued_us":41200,"written_us":41300,"ended_us":42000,"reason":0,"#
                    + #""waited_for":"window""#,
                "waited 41 ms for the broker to acknowledge earlier messages, "
                    + "queued after 41 ms, written after 41 ms, acknowledged after 42 ms"
            ),
            (
                #""stage":"acknowledged","queued_us":802300,"written_us":802400,"ended_us":803300,"reason":0,"#
                    + #""waited_for":"chord","released_us":802000"#,
                "held back 802 ms for an exclusive chord, "
                    + "queued after 802 ms, written after 802 ms, acknowledged after 803 ms"
            ),
            (
                #""stage":"acknowledged","queued_us":3000200,"written_us":3000300,"ended_us":3001000,"reason":0,"#
                    + #""waited_for":"broker","released_us":802000"#,
                "held back 802 ms for an exclusive chord, waited 2.1 s for a connection to the broker, "
                    + "queued after 3.0 s, written after 3.0 s, acknowledged after 3.0 s"
            ),
            (
                #""stage":"refused","ended_us":1300,"reason":135"#,
                "the broker refused it after 1.3 ms: not authorized; "
                    + "allow the bridge to publish it in the broker's access list"
            ),
            (#""stage":"refused","ended_us":1300,"reason":151"#, "the broker refused it after 1.3 ms: quota exceeded"),
            (
                #""stage":"written","queued_us":300,"written_us":400,"age_ms":4200"#,
                "written after 0.4 ms, not acknowledged for 4.2 s: the broker is slow"
            ),
            (
                #""stage":"queued","queued_us":300,"age_ms":4200"#,
                "queued after 0.3 ms, not written for 4.2 s: the broker does not read"
            ),
            (
                #""stage":"waiting","waited_for":"window","age_ms":420"#,
                "waiting for the broker to acknowledge earlier messages for 420 ms"
            ),
            (
                #""stage":"expired","waited_for":"broker","ended_us":5000000"#,
                "expired after 5.0 s: it waited for a connection to the broker"
            ),
            (
                #""stage":"dropped","waited_for":"broker","ended_us":200"#,
                "dropped: too many messages wait for a connection to the broker"
            ),
            (#""stage":"unsendable""#, "not sent: it is invalid or too large for the broker"),
            (#""stage":"closing""#, "dropped: the broker closed two connections with it in flight"),
        ])
    func gesture(keys: String, sentence: String) throws {
        let common = #"{"tag":"003R","event_type":"brush_in","seq":1042,"read_us":100,"#
        let keys = #""reassembled_us":200,"# + keys
        #expect(ExplainText.gesture(try document(common + keys + "}")) == "brush in 1042: " + sentence)
    }

    @Test("mention that the bridge read a gesture late")
    func lateRead() throws {
        let trace = try document(#"{"event_type":"cover","seq":1,"reassembled_us":150000,"stage":"unsendable"}"#)
        #expect(ExplainText.gesture(trace).hasPrefix("cover 1: read after 150 ms, "))
    }

    @Test(
        "name the last stage of a command, and its cause",
        arguments: [
            (
                #""stage":"answered","sent_us":100,"ended_us":41000"#,
                "sent to the tag after 0.1 ms, answered after 41 ms"
            ),
            (#""stage":"answered","ended_us":100"#, "answered after 0.1 ms"),
            (#""stage":"sent","sent_us":100,"age_ms":300"#, "sent to the tag after 0.1 ms, not answered for 300 ms"),
            (
                #""stage":"accepted","age_ms":3000"#,
                "waiting for the tag to connect for 3.0 s: it is asleep or out of range"
            ),
            (#""stage":"received""#, "received"),
            (#""stage":"elsewhere""#, "not executed: another bridge is connected to the tag"),
            (
                #""stage":"failed","code":"expired","ended_us":10000000"#,
                "not sent, expired after 10.0 s: the tag was not connected, it is asleep or out of range"
            ),
            (
                #""stage":"failed","code":"tag_offline","ended_us":100"#,
                "not sent, tag offline after 0.1 ms: the tag was not connected, it is asleep or out of range"
            ),
            (
                #""stage":"failed","code":"timeout","sent_us":100,"ended_us":8000000"#,
                "sent to the tag after 0.1 ms, failed after 8.0 s: timeout"
            ),
            (#""stage":"failed","code":"unknown_tag","ended_us":0"#, "refused: unknown tag"),
            (
                #""stage":"received","repetition":"stored""#,
                "not executed: it has the id of an earlier command, whose result was published again"
            ),
            (
                #""stage":"answered","repetition":"pending","ended_us":100"#,
                "not executed: it has the id of a pending command, and gets its result"
            ),
        ])
    func command(keys: String, sentence: String) throws {
        let common = #"{"tag":"003R","command":"led/set","id":"a","#
        #expect(ExplainText.command(try document(common + keys + "}")) == "led/set (id a): " + sentence)
        let anonymous = #"{"tag":"003R","command":"led/set","id":null,"#
        #expect(ExplainText.command(try document(anonymous + keys + "}")) == "led/set: " + sentence)
    }

    @Test("are sorted by time, with the tags that are not connected at the end")
    func order() throws {
        let data = try document(
            #"""
            {"gestures":[{"tag":"1","event_type":"cover","seq":1,"time":"2026-11-20T10:15:03.000Z","stage":"closing"}],
            "commands":[{"tag":"2","command":"led/set","time":"2026-11-20T10:15:02.000Z","stage":"received"}],
            "incidents":[{"tag":"3","type":"fragment_lost","time":"2026-11-20T10:15:01.000Z","code":null},
            {"tag":"3","type":"disconnected","time":"2026-11-20T10:15:04.000Z","code":"connection_timeout"},
            {"tag":"3","type":"connected","time":"2026-11-20T10:15:05.000Z","code":null}],
            "tags":[{"id":"3","connection":{"state":"connecting","since":"2026-11-20T10:15:04.000Z"}},
            {"id":"4","connection":{"state":"connected"}}]}
            """#)
        let lines = ExplainCommand().lines(of: data)
        #expect(lines.count == 6)
        for (line, end) in zip(
            lines,
            [
                "3 lost a message: a fragment of it did not arrive; a gesture may be missing", "2 led/set: received",
                "1 cover 1: dropped: the broker closed two connections with it in flight",
                "3 disconnected: connection timeout; gestures were not received from then on", "3 connected",
                "(connecting): it is being connected; its gestures are not received",
            ])
        {
            #expect(line.hasSuffix(end), "\(line)")
        }
        #expect(lines.last?.hasPrefix("3 is not connected since ") == true)
    }

    @Test(
        "name the command that made the tag disconnect",
        arguments: [
            ("name/set", "10:15:01", "answered", nil, true), ("sleep/set", "10:14:00", "answered", "10:13:00", true),
            ("sleep/set", "10:14:00", "answered", "10:14:30", false), ("led/set", "10:15:01", "answered", nil, false),
            ("name/set", "10:15:01", "failed", nil, false), ("name/set", "10:15:03", "answered", nil, false),
            ("connection/set", "10:15:01", "answered", nil, true),
        ] as [(String, String, String, String?, Bool)])
    func ownCommands(command: String, time: String, stage: String, connected: String?, isCause: Bool) throws {
        let before = connected.map { #"{"tag":"3","type":"connected","time":"2026-11-20T\#($0).000Z"},"# } ?? ""
        let data = try document(
            #"""
            {"commands":[{"tag":"3","command":"\#(command)","time":"2026-11-20T\#(time).000Z","stage":"\#(stage)"}],
            "incidents":[\#(before){"tag":"3","type":"disconnected","time":"2026-11-20T10:15:02.000Z",
            "code":"bluetooth_connection_error"}]}
            """#)
        let sentence = ExplainText.incident(try #require(data["incidents"]?.elements?.last), in: data)
        let reason = isCause ? " by the command \(command)" : ": bluetooth connection error"
        #expect(sentence == "disconnected\(reason); gestures were not received from then on")
    }

    @Test("say that there is nothing")
    func nothing() {
        #expect(
            ExplainCommand().lines(of: .null) == ["There was no gesture and no command since the bridge was started"])
        #expect(ExplainCommand().failure(for: .null) == nil)
    }

    @Test("are an error if there is no such gesture")
    func unknownGesture() throws {
        let command = ExplainCommand(tag: "1", sequence: 7)
        let data = try document(#"{"gestures":[],"commands":[],"incidents":[],"tags":[]}"#)
        #expect(command.lines(of: data) == [])
        let failure = try #require(command.failure(for: data))
        #expect(failure.exitCode == .failed && failure.isPrinted)
        #expect(failure.text.contains("no gesture 7 of 1"))
        let known = try document(#"{"gestures":[{"seq":7}]}"#)
        #expect(command.failure(for: known) == nil)
    }

    @Test(
        "say why a tag is not connected",
        arguments: [
            (#""connect":"never","held":false,"error":null"#, "it is disabled in the configuration"),
            (#""connect":"always","held":true,"error":null"#, "the user has disconnected it"),
            (#""connect":"always","held":false,"error":{"text":"Bond lost"}"#, "Bond lost"),
            (#""connect":"on_demand","held":false,"error":null"#, "a command connects it"),
        ])
    func reason(keys: String, reason: String) throws {
        let tag = try document(#"{"id":"3","connection":{"state":"disconnected"},\#(keys)}"#)
        #expect(ExplainText.tag(tag) == "3 is not connected (disconnected): \(reason); its gestures are not received")
    }

    @Test("say that the bridge waits for a tag, and why it lost it")
    func awaited() throws {
        for (error, end) in [("null", ""), (#"{"text":"the link was lost"}"#, " (the link was lost)")] {
            let keys = #""connect":"always","held":false,"connection":{"state":"preparing_to_connect"}"#
            let text = ExplainText.tag(try document(#"{"id":"3",\#(keys),"error":\#(error)}"#))
            #expect(text?.contains("): it is asleep or out of range\(end); its gestures") == true)
        }
    }

    @Test(
        "have times of three digits at most",
        arguments: [
            (0, "0.0 ms"), (149, "0.1 ms"), (9_949, "9.9 ms"), (9_950, "10 ms"), (999_949, "999 ms"),
            (1_000_000, "1.0 s"), (61_000_000, "61.0 s"), (-5, "0.0 ms"),
        ])
    func times(microseconds: Int64, text: String) {
        #expect(ExplainText.time(microseconds) == text)
    }
}
