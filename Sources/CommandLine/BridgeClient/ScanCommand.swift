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

/// `scan`: lists the tags within range. The running bridge scans; without a bridge this process scans itself.
struct ScanCommand: ClientCommand {
    /// The duration of the scan.
    let duration: Duration

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let search = await SnapTagSearch.start(busAddress: context.busAddress, log: context.log)
        var report: ScanReport
        do throws(ClientFailure) {
            report = try await scan(context)
        } catch {
            _ = await search?.finish()
            throw error
        }
        report.snapTags = await search?.finish() ?? []
        context.printer.show(report.document, styled: report.lines(in: context.printer.style))
    }

    @LoopActor
    private func scan(_ context: ClientContext) async throws(ClientFailure) -> ScanReport {
        do throws(ClientFailure) {
            return try await BridgeScan(context: context, duration: duration).run()
        } catch  where error.exitCode == .noConnection {
            do throws(ClientFailure) {
                return try await AdapterScan(context: context, duration: duration, reason: error).run()
            } catch let own {
                throw ClientFailure(
                    exitCode: own.exitCode, code: own.code,
                    text: "No bridge can scan (\(error.text)), and this machine cannot either: \(own.text)",
                    hint: own.hint)
            }
        }
    }

    static let row = Command<any CommandAction>(
        name: "scan",
        summary: "list the tags within range",
        details: [
            "Scans for tags and prints a table of them, the nearest first. The running",
            "bridge scans; if it cannot be reached, this command scans with the",
            "machine's own adapter. Ctrl-C ends the scan early.",
        ],
        options: [.config, .json, .color, durationOption],
        json: [
            #"{"source","connected","tags":[{"address","serial","name","rssi","known"}]};"#,
            "source is bridge or adapter, connected are tags, which do not advertise.",
            "snap_tags: addresses of tags of 2017, if there are any.",
        ],
        examples: ["scan", "scan --duration 10 --json"]
    ) { arguments throws(CommandLineError) in
        let duration = try arguments.value(of: durationOption, .wholeSeconds(1...3600))
        return try ClientAction(ScanCommand(duration: duration ?? .seconds(30)), arguments)
    }

    private static let durationOption = OptionDescription(
        name: "--duration", value: "SECONDS", details: ["The duration of the scan (default: 30)."])
}

/// Makes the running bridge scan, and collects the advertisements that it publishes.
private struct BridgeScan: Sendable {
    let context: ClientContext
    let duration: Duration

    /// Scans. Ctrl-C ends it early, with the tags so far.
    ///
    /// - Throws: the error of the bridge, or `noConnection`.
    @LoopActor
    func run() async throws(ClientFailure) -> ScanReport {
        try await context.withSession { session throws(ClientFailure) in
            let progress = Progress(context.printer)
            let topics = session.topics
            var report = ScanReport(source: .bridge)
            let request = ClientRequest(
                verb: "scan", ["duration_s": .integer(duration.components.seconds), "duplicates": true], topics,
                patience: duration + .seconds(15))
            session.subscribe(to: [topics.advertisement, topics.scan])
            let end = Instant.now + duration
            defer { progress.end() }
            do throws(ClientFailure) {
                let take: (MQTTMessage) -> Void = { message in
                    if message.topic == topics.advertisement { report.take(JSONValue(payload: message.payload)) }
                }
                _ = try await session.ask(request, progress, observe: take)
                progress.say("listening for \(duration.components.seconds) s")
                try await collect(session, until: end, into: &report)
                report.connected = try await Self.connectedTags(session)
            } catch  where error == .interrupted {
                session.publish(topics.request("scan"), "stop")
            }
            return report
        }
    }

    /// The tags to which bridges are connected, which do not advertise.
    @LoopActor
    private static func connectedTags(_ session: BrokerSession) async throws(ClientFailure) -> [String] {
        let infos = try await session.snapshot(of: [session.topics.infoOfEveryBridge])
        return FleetDirectory(
            infos + (try await session.snapshot(of: [session.topics.stateOfEveryBridge])), session.topics
        )
        .connected
    }

    /// Collects until the end of the duration, or until the bridge reports the end of the scan.
    @LoopActor
    private func collect(
        _ session: BrokerSession, until end: Instant, into report: inout ScanReport
    ) async throws(ClientFailure) {
        while let signal = await session.next(until: end) {
            switch signal {
            case .message(let message) where message.topic == session.topics.advertisement:
                report.take(JSONValue(payload: message.payload))
            case .message(let message) where message.topic == session.topics.scan:
                if JSONValue(payload: message.payload)["scanning"]?.flag == false { return }
            case .message(let message) where message.topic == session.topics.state:
                if message.payload == Array("offline".utf8) { throw .bridgeOffline(session.topics.instance) }
            case .lost(let error): throw .lost(error.text)
            case .interrupted: throw .interrupted
            case .message, .connected, .taken, .refused: break
            }
        }
    }
}

/// The tags that a scan has received, each with its latest signal strength.
struct ScanReport: Hashable, Sendable {
    /// Which program scanned: the bridge, or this process with the machine's adapter.
    enum Source: String, Sendable {
        case bridge, adapter
    }

    /// Which program scanned.
    let source: Source
    /// The IDs of tags to which bridges are connected.
    var connected: [String] = []
    /// The addresses of tags of 2017, which a bridge can't use.
    var snapTags: [String] = []
    private var tags: [String: JSONValue] = [:]

    /// Creates an empty report.
    init(source: Source) {
        self.source = source
    }

    /// Adds an advertisement in the bridge's format. Keys that are missing in it keep their values.
    ///
    /// - Returns: whether the tag is new.
    @discardableResult
    mutating func take(_ advertisement: JSONValue) -> Bool {
        guard let address = advertisement["address"]?.string, case .object(let received) = advertisement else {
            return false
        }
        guard case .object(let before)? = tags[address] else {
            tags[address] = advertisement
            return true
        }
        tags[address] = .object(before.merging(received) { $1 == .null ? $0 : $1 })
        return false
    }

    /// The tags, the nearest first.
    private var sorted: [JSONValue] {
        tags.values.sorted { left, right in
            let (near, far) = (left["rssi"]?.integer ?? .min, right["rssi"]?.integer ?? .min)
            return near == far ? (left["address"]?.string ?? "") < (right["address"]?.string ?? "") : near > far
        }
    }

    /// `{"source","connected","tags":[{"address","serial","name","rssi","known"}]}`.
    var document: JSONValue {
        var document: [String: JSONValue] = [
            "source": .string(source.rawValue), "tags": .array(sorted),
            "connected": .array(connected.map(JSONValue.string)),
        ]
        if !snapTags.isEmpty { document["snap_tags"] = .array(snapTags.map(JSONValue.string)) }
        return .object(document)
    }

    /// The number of connected tags that are named.
    private static let mostNamed = 20

    /// The table, and tags that can't be used.
    func lines(in style: TerminalStyle = .plain) -> [StyledLine] {
        tagLines(in: style) + snapTags.map { StyledLine(DisplayText.escaped("\($0) is \(SnapTag.reason).")) }
    }

    private func tagLines(in style: TerminalStyle) -> [StyledLine] {
        guard !tags.isEmpty else {
            var lines = ["No tag was received. To find another tag, \(TagAdvice.wake)."]
            if !connected.isEmpty {
                let rest = connected.count > Self.mostNamed ? " and \(connected.count - Self.mostNamed) more" : ""
                lines.append(
                    "Connected tags do not advertise: \(connected.prefix(Self.mostNamed).joined(separator: ", "))\(rest)."
                )
            }
            return lines.map { StyledLine(DisplayText.escaped($0)) }
        }
        var table = TextTable(titles: ["SERIAL", "NAME", "ADDRESS", "RSSI", "KNOWN"])
        table.rows = sorted.map { tag in
            ["serial", "name", "address", "rssi", "known"].map { tag[$0]?.word ?? "" }
        }
        return table.lines(in: style)
    }
}
