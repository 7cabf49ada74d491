import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import JacquardProtocol
import MQTT
import MQTTTypes
import Terminal
import Text
import Time

/// `imu` with a tag: records, lists, downloads and streams.
struct MotionTagCommand: ClientCommand {
    /// The tag.
    let tag: String
    /// The action.
    let action: MotionCommand.Action
    /// The keys of the command.
    var payload: [String: JSONValue] = [:]
    /// How long to wait for a tag that is not connected.
    var lifetime: Duration?
    /// Whether a stream is printed as CSV.
    var isCSV = false

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let verb = action == .status || action == .sessions ? "get" : "set"
        let limit = lifetime.map { ["ttl_ms": JSONValue.integer($0.milliseconds)] } ?? [:]
        let name = action == .sessions ? "imu/sessions" : "imu"
        let request = ClientRequest(name, verb: verb, of: tag, payload.merging(limit) { $1 }, context.topics)
        switch action {
        case .download: try await download(request, context)
        case .stream: try await stream(request, context)
        default: try await context.perform(request) { sentence($0) }
        }
    }

    /// The sentence for a successful result.
    private func sentence(_ result: JSONValue) -> String {
        let imu = result["data"]?["imu"]
        let state = imu?["state"]?.word ?? "module \(imu?["module"]?.word ?? "unknown")"
        guard action == .sessions else { return result.sentence(of: tag, state.asWords) }
        let sessions = result["data"]?["sessions"]?.elements ?? []
        guard !sessions.isEmpty else { return "\(tag): no sessions" }
        return "\(tag): "
            + sessions.map { "\($0["session"]?.word ?? "") (\($0["bytes"]?.word ?? "?") bytes)" }.joined(
                separator: ", ")
    }

    /// Waits until the file is complete; the command's result comes when the transfer begins.
    @LoopActor
    private func download(_ request: ClientRequest, _ context: ClientContext) async throws(ClientFailure) {
        let progress = Progress(context.printer)
        defer { progress.end() }
        let topic = context.topics.tag(tag, "imu")
        let document = try await context.withSession { session throws(ClientFailure) in
            session.subscribe(to: [topic])
            _ = try await session.ask(request, progress)
            progress.say("transferring \(payload["session"]?.word ?? "")")
            // The state before this download may name an earlier file.
            var isBegun = false
            while let signal = await session.next(until: Instant.now + Self.patience) {
                switch signal {
                case .message(let message) where message.topic == topic:
                    let document = JSONValue(payload: message.payload)
                    if document["download"]?["bytes"] != nil {
                        isBegun = true
                    } else if isBegun {
                        return document
                    }
                case .message(let message) where session.isOffline(message):
                    throw .bridgeOffline(session.topics.instance)
                case .lost(let error): throw .lost(error.text)
                case .interrupted: throw .interrupted
                default: break
                }
            }
            throw ClientFailure(
                exitCode: .failed, code: "timeout", text: "The session was not transferred in time",
                hint: "the bridge continues for an hour; T/imu shows the progress")
        }
        if let error = document["error"]?.word {
            throw ClientFailure(exitCode: .failed, code: "download_failed", text: "\(tag): \(error)")
        }
        guard let file = document["file"]?.word else {
            throw ClientFailure(
                exitCode: .failed, code: "download_ended",
                text: "\(tag): the download was ended before the file was complete",
                hint: "download it again; it continues where it has ended")
        }
        context.printer.show(["status": "ok", "file": .string(file)], [DisplayText.escaped("\(tag): \(file)")])
    }

    /// How long a session may take.
    private static let patience = Duration.seconds(3600)

    /// Prints the samples until the stream ends, or Ctrl-C.
    @LoopActor
    private func stream(_ request: ClientRequest, _ context: ClientContext) async throws(ClientFailure) {
        let progress = Progress(context.printer)
        let data = context.topics.tag(tag, "imu/data")
        let state = context.topics.tag(tag, "imu")
        let seconds = payload["seconds"]?.integer ?? 60
        try await context.withSession { session throws(ClientFailure) in
            session.subscribe(to: [data, state])
            _ = try await session.ask(request, progress)
            progress.end()
            if isCSV { context.printer.write(.standardOutput, MotionTable.Columns.milliseconds.title) }
            var first: UInt32?
            let end = Instant.now + .seconds(seconds + 5)
            while let signal = await session.next(until: end) {
                switch signal {
                case .message(let message) where message.topic == data:
                    let document = JSONValue(payload: message.payload)
                    guard isCSV else {
                        context.printer.write(document)
                        continue
                    }
                    for line in Self.lines(document, &first) { context.printer.write(.standardOutput, line) }
                case .message(let message) where message.topic == state:
                    if JSONValue(payload: message.payload)["mode"] == "none" { return }
                case .message(let message) where session.isOffline(message):
                    throw .bridgeOffline(session.topics.instance)
                case .lost(let error): throw .lost(error.text)
                case .interrupted:
                    let stop = ClientRequest("imu", verb: "set", of: tag, ["action": "stop"], context.topics)
                    session.publish(stop.topic, stop.payload.text)
                    return
                default: break
                }
            }
        }
    }

    /// The samples of a message as lines, with the columns of `imu parse --csv`: the time since the first sample, then g and degrees
    /// per second. The tag's clock wraps around.
    static func lines(_ document: JSONValue, _ first: inout UInt32?) -> [String] {
        func ticks(_ key: String) -> UInt32 { UInt32(truncatingIfNeeded: document[key]?.integer ?? 0) }
        let (ticks, step, configuration) = (ticks("ticks"), ticks("step"), IMUConfiguration())
        let start = first ?? ticks
        first = start
        let units = [configuration.gPerUnit, configuration.degreesPerSecondPerUnit].flatMap { [$0, $0, $0] }
        return (document["accel_gyro"]?.elements ?? []).enumerated().map { index, sample in
            let microseconds = MotionTable.microseconds(ticks &+ UInt32(index) &* step, since: start)
            let values = zip(sample.elements ?? [], units).map { value, unit in
                value.integer.map { "\(Double($0) * unit)" } ?? ""
            }
            return ([MotionTable.decimal(microseconds, 1000)] + values).joined(separator: ",")
        }
    }
}
