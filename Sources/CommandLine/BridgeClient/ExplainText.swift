import Bridge
import JSON
import MQTT
import Terminal

/// The sentences of `explain`. Each takes a document of `request/trace`.
enum ExplainText {
    /// Time and tag, then the sentence.
    static func line(_ document: JSONValue, _ sentence: String) -> String {
        let time = document["time"]?.string.flatMap(TimeText.unixMilliseconds).map(ClockText.local) ?? ""
        return "\(time) \(document["tag"]?.word ?? "") \(sentence)"
    }

    // MARK: Gestures

    /// Describes a gesture.
    static func gesture(_ trace: JSONValue) -> String {
        let name = (trace["event_type"]?.string ?? "gesture").asWords
        return "\(name) \(trace["seq"]?.word ?? ""): " + (delays(trace) + [ending(trace)]).joined(separator: ", ")
    }

    /// The delays before the message was passed to the MQTT library.
    private static func delays(_ trace: JSONValue) -> [String] {
        var parts: [String] = []
        if let decoded = duration(trace["reassembled_us"]), decoded > slow {
            parts.append("read after \(time(decoded))")
        }
        if trace["repeated"]?.flag == true { parts.append("sent again after a lost connection") }
        if let released = duration(trace["released_us"]) {
            parts.append("held back \(time(released)) for an exclusive chord")
        }
        guard let wait = wait(trace), let subject = subject(trace) else { return parts }
        return parts + ["waited \(time(wait)) \(subject)"]
    }

    /// The last stage, with its cause.
    private static func ending(_ trace: JSONValue) -> String {
        let end = duration(trace["ended_us"]).map(time) ?? ""
        let age = time((duration(trace["age_ms"]) ?? 0) * 1_000)
        switch trace["stage"]?.string {
        case "acknowledged": return acknowledged(trace, end)
        case "refused": return refused(trace, end)
        case "written":
            return "written after \(stage(trace, "written_us")), not acknowledged for \(age): the broker is slow"
        case "queued":
            return "queued after \(stage(trace, "queued_us")), not written for \(age): the broker does not read"
        case "waiting": return "waiting \(subject(trace) ?? "") for \(age)"
        case "expired": return "expired after \(end): it waited \(subject(trace) ?? "for the broker")"
        case "dropped": return "dropped: too many messages wait \(subject(trace) ?? "for the broker")"
        case "unsendable": return "not sent: it is invalid or too large for the broker"
        case "closing": return "dropped: the broker closed two connections with it in flight"
        default: return trace["stage"]?.word ?? "unknown"
        }
    }

    private static func acknowledged(_ trace: JSONValue, _ end: String) -> String {
        var parts = ["queued after \(stage(trace, "queued_us"))"]
        if duration(trace["written_us"]) != nil { parts.append("written after \(stage(trace, "written_us"))") }
        var last = "acknowledged after \(end)"
        let answer = (duration(trace["ended_us"]) ?? 0) - (duration(trace["written_us"]) ?? 0)
        switch trace["reason"]?.integer {
        case 0x10: last += ": no client is subscribed to its topic"
        case _ where answer > slow * 10: last += ": the broker was slow, it took \(time(answer))"
        case nil: last += " (MQTT 3.1.1: the broker gives no reason)"
        default: break
        }
        return (parts + [last]).joined(separator: ", ")
    }

    private static func refused(_ trace: JSONValue, _ end: String) -> String {
        let reason = trace["reason"]?.integer.flatMap(UInt8.init(exactly:)) ?? 0x80
        let text = "the broker refused it after \(end): \(MQTTReason.name(reason).asWords)"
        return reason == 0x87 ? text + "; allow the bridge to publish it in the broker's access list" : text
    }

    /// How long the gesture waited before it was passed to the MQTT library, in microseconds.
    private static func wait(_ trace: JSONValue) -> Int64? {
        guard let queued = duration(trace["queued_us"]),
            let ready = duration(trace["released_us"]) ?? duration(trace["reassembled_us"])
        else { return nil }
        return queued - ready
    }

    /// The object that the gesture waited for.
    private static func subject(_ trace: JSONValue) -> String? {
        switch trace["waited_for"]?.string {
        case "broker": "for a connection to the broker"
        case "window": "for the broker to acknowledge earlier messages"
        default: nil
        }
    }

    // MARK: Commands

    /// Describes a command.
    static func command(_ trace: JSONValue) -> String {
        let id = trace["id"]?.string.map { " (id \($0))" } ?? ""
        return "\(trace["command"]?.word ?? "command")\(id): \(outcome(trace))"
    }

    private static func outcome(_ trace: JSONValue) -> String {
        switch trace["repetition"]?.string {
        case "stored": return "not executed: it has the id of an earlier command, whose result was published again"
        case "pending": return "not executed: it has the id of a pending command, and gets its result"
        default: break
        }
        let age = time((duration(trace["age_ms"]) ?? 0) * 1_000)
        let end = duration(trace["ended_us"]).map(time) ?? ""
        let sent = duration(trace["sent_us"]).map { "sent to the tag after \(time($0))" }
        switch trace["stage"]?.string {
        case "answered": return (sent.map { "\($0), " } ?? "") + "answered after \(end)"
        case "sent": return "\(sent ?? "sent to the tag"), not answered for \(age)"
        case "accepted": return "waiting for the tag to connect for \(age): it is asleep or out of range"
        case "received": return "received"
        case "elsewhere": return "not executed: another bridge is connected to the tag"
        case "failed": return failed(trace["code"]?.string ?? "internal", sent, end)
        default: return trace["stage"]?.word ?? "unknown"
        }
    }

    private static func failed(_ code: String, _ sent: String?, _ end: String) -> String {
        switch code {
        case _ where sent != nil: "\(sent ?? ""), failed after \(end): \(code.asWords)"
        case "expired", "tag_offline":
            "not sent, \(code.asWords) after \(end): the tag was not connected, it is asleep or out of range"
        default: "refused: \(code.asWords)"
        }
    }

    // MARK: Tags

    /// Describes an incident.
    ///
    /// - Parameters:
    ///   - incident: the incident.
    ///   - data: all commands and incidents, of which one may be its cause.
    /// - Returns: the sentence.
    static func incident(_ incident: JSONValue, in data: JSONValue) -> String {
        switch incident["type"]?.string {
        case "disconnected" where cause(of: incident, in: data) != nil:
            "disconnected by the command \(cause(of: incident, in: data) ?? ""); gestures were not received from then on"
        case "fragment_lost": "lost a message: a fragment of it did not arrive; a gesture may be missing"
        case "connected": "connected"
        case "disconnected":
            "disconnected" + (incident["code"]?.string.map { ": \($0.asWords)" } ?? "")
                + "; gestures were not received from then on"
        default: incident["type"]?.word ?? "unknown"
        }
    }

    /// The command that made the tag disconnect: the last one that it executed before, unless it was connected in between.
    private static func cause(of incident: JSONValue, in data: JSONValue) -> String? {
        let (tag, time) = (incident["tag"]?.string, incident["time"]?.string ?? "")
        func last(_ documents: JSONValue?, _ isMeant: (JSONValue) -> Bool) -> JSONValue? {
            (documents?.elements ?? []).last {
                $0["tag"]?.string == tag && ($0["time"]?.string ?? "") <= time && isMeant($0)
            }
        }
        let commands = ["name/set", "sleep/set", "connection/set"]
        guard
            let command = last(
                data["commands"],
                { $0["stage"]?.string == "answered" && commands.contains($0["command"]?.string ?? "") })
        else { return nil }
        let connected = last(data["incidents"], { $0["type"]?.string == "connected" })?["time"]?.string ?? ""
        return connected <= command["time"]?.string ?? "" ? command["command"]?.string : nil
    }

    /// Describes a tag that is not connected; nil for one that is.
    static func tag(_ tag: JSONValue) -> String? {
        guard let connection = tag["connection"], connection["state"]?.string != "connected" else { return nil }
        let time = connection["since"]?.string.flatMap(TimeText.unixMilliseconds)
        let since = time.map { " since \(ClockText.local($0))" }
        let state = ConnectionText(connection).short
        return
            "\(tag["id"]?.word ?? "") is not connected\(since ?? "") (\(state)): \(reason(tag)); its gestures are not "
            + "received"
    }

    /// Why a tag is not connected.
    private static func reason(_ tag: JSONValue) -> String {
        if tag["connect"]?.string == "never" { return "it is disabled in the configuration" }
        if tag["held"]?.flag == true { return "the user has disconnected it" }
        let state = tag["connection"]?["state"]?.string ?? ""
        if ["connecting", "initializing", "configuring"].contains(state) { return "it is being connected" }
        let error = tag["error"]?["text"]?.string
        // The bridge has stopped trying.
        if state == "disconnected", let error { return error }
        if state == "disconnected", tag["connect"]?.string == "on_demand" { return "a command connects it" }
        return "it is asleep or out of range" + (error.map { " (\($0))" } ?? "")
    }

    // MARK: Times

    /// A delay that is mentioned, in microseconds.
    private static let slow: Int64 = 20_000

    private static func stage(_ trace: JSONValue, _ key: String) -> String {
        duration(trace[key]).map(time) ?? "an unknown time"
    }

    /// A number of milliseconds or microseconds. Far out of range it is taken for a long time, because any value may be in a message.
    private static func duration(_ value: JSONValue?) -> Int64? { value?.integer.map { min(max($0, 0), 1 << 50) } }

    /// `0.3 ms`, `41 ms` or `1.5 s`.
    static func time(_ microseconds: Int64) -> String {
        let tenths = max(0, microseconds + 50) / 100
        switch tenths {
        case ..<100: return "\(tenths / 10).\(tenths % 10) ms"
        case ..<10_000: return "\(tenths / 10) ms"
        default: return "\(tenths / 10_000).\(tenths / 1_000 % 10) s"
        }
    }
}
