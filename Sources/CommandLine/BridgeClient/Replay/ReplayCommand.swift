import Bridge
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import Glibc
import JSON
import Terminal
import Text
import Time

/// `replay-events`: publishes recorded events below another base topic, with the pauses between them.
struct ReplayCommand: ClientCommand {
    /// The file of recorded events.
    let file: String
    /// The base topic to publish below.
    let base: String
    /// How many times faster than recorded.
    var speed = 1
    /// The longest pause between two events; nil: as recorded.
    var longestPause: Duration?
    /// The first and last times, in milliseconds since 1970; nil: those of the file.
    var start: Int64?
    var end: Int64?

    var usesBridge: Bool { false }

    /// Publishes the events, removes the retained ones, and prints how many there were.
    ///
    /// - Throws: `invalid_argument` for a base topic of the bridge or of Home Assistant, `no_events` for a file without
    ///   events, `noConnection` without a broker.
    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        if let topic = Self.topic(of: context.configuration, overlapping: base) {
            throw ReplayCommand.overlappingBase(base, topic)
        }
        let replay = try await load()
        guard let first = replay.events.first, let last = replay.events.last else { throw ReplayCommand.noEvents(file) }
        let announcement =
            "publishing \(counted(replay.events.count, "event")) from \(TimeText.utc(first.unixMilliseconds)) to "
            + "\(TimeText.utc(last.unixMilliseconds)) below \(base); Ctrl-C ends it"
        let published = try await context.withSession { session throws(ClientFailure) in
            context.printer.write(.standardError, DisplayText.escaped(announcement))
            var run = ReplayRun(base: base, session)
            do throws(ClientFailure) {
                try await run.publish(replay, speed: speed, longestPause: longestPause)
            } catch  where error == .interrupted {
                // The retained messages are removed all the same.
            }
            try await run.clear()
            return run.published
        }
        context.printer.show(
            [
                "status": "ok", "events": .integer(Int64(published)), "facts": .integer(Int64(replay.facts.count)),
                "from": .string(TimeText.utc(first.unixMilliseconds)),
                "until": .string(TimeText.utc(last.unixMilliseconds)),
            ],
            ["\(published) of \(countedWere(replay.events.count, "event")) published below \(base)"].map(
                DisplayText.escaped))
    }

    /// The base topic of the bridge or the prefix of Home Assistant, whichever overlaps with another base topic; nil: none.
    static func topic(of configuration: Settings, overlapping base: String) -> String? {
        [configuration.mqtt.baseTopic, configuration.homeAssistant.prefix].first { overlap($0, base) }
    }

    /// Whether one base topic is the other, or a part of it.
    static func overlap(_ one: String, _ other: String) -> Bool {
        let slash = UInt8(ascii: "/")
        let (one, other) = (one.utf8.split(separator: slash), other.utf8.split(separator: slash))
        return zip(one, other).allSatisfy { $0.elementsEqual($1) }
    }

    // MARK: Files

    /// The path of the table of tags of a file: `events.tags.json` for `events.ring`.
    static func tagsPath(of file: String) -> String {
        (file.hasSuffix(".ring") ? String(file.dropLast(".ring".count)) : file) + ".tags.json"
    }

    @LoopActor
    private func load() async throws(ClientFailure) -> EventReplay {
        guard let events = try await bytes(of: file, limit: EventBlock.fileSize) else {
            throw ReplayCommand.unreadable(file, FileError(ENOENT).reason(for: file))
        }
        guard events.first != UInt8(ascii: "{") else { throw ReplayCommand.trafficRecording(file) }
        let blocks = EventBlocks(events).blocks
        guard !blocks.isEmpty || events.isEmpty else {
            throw ReplayCommand.unreadable(file, "it is not a record of events")
        }
        return EventReplay(blocks, tags: try await tags(), from: start, until: end)
    }

    /// The table of tags; an empty one if there is no file.
    @LoopActor
    private func tags() async throws(ClientFailure) -> RecordedTags {
        let path = Self.tagsPath(of: file)
        guard let bytes = try await bytes(of: path, limit: RecordedTags.fileSizeLimit) else { return RecordedTags() }
        guard let tags = RecordedTags(parsing: bytes) else {
            throw ReplayCommand.unreadable(path, "it is not a table of recorded tags")
        }
        return tags
    }

    /// Reads a file; nil if there is none.
    @LoopActor
    private func bytes(of path: String, limit: Int) async throws(ClientFailure) -> [UInt8]? {
        let result = await HelperThread.shared.run {
            Result { () throws(FileError) in try FileContents(path: path, limit: limit).bytes }
        }
        do throws(FileError) {
            return try result.get()
        } catch  where error.isMissing {
            return nil
        } catch {
            throw ReplayCommand.unreadable(path, error.reason(for: path))
        }
    }
}

// MARK: The row

extension ReplayCommand {
    static let row = Command<any CommandAction>(
        name: "replay-events",
        summary: "publish recorded events below another topic",
        details: [
            "Publishes the events that a bridge has recorded, with the pauses between",
            "them, to try an automation with them. The bridge records events if",
            "record.hours is set in its configuration. Topics and",
            "payloads are the recorded ones, except for the base topic. Facts are",
            "retained during the replay and removed at its end, also after Ctrl-C.",
        ],
        options: [.config, .json, toOption, fromOption, untilOption, speedOption, pauseOption],
        operands: [.required("FILE", .file(["ring"]))],
        values: [
            "FILE is events.ring in the folder of the bridge's state, or a copy. With",
            "events.tags.json beside it the topics have the ids of the tags, without it",
            "the names tag-1, tag-2 and so on.",
        ],
        json: [
            #"{"status","events","facts","from","until"}: the numbers of published events"#,
            "and of facts at the start, and the times of the first and last event.",
        ],
        examples: [
            "replay-events /var/lib/jacquard2mqtt/events.ring --to shadow",
            "replay-events old.ring --to shadow --from 2026-11-20T17:00Z",
        ],
        formerNames: ["replay"]
    ) { arguments throws(CommandLineError) in
        let base = try arguments.value(of: toOption, .topic)
        guard let base else { throw CommandLineError(message: "--to is missing: the base topic to publish below") }
        let command = ReplayCommand(
            file: try arguments.operand(0, "FILE", .text(bytes: 4_095)), base: base,
            speed: try arguments.value(of: speedOption, .integer(1...10_000)) ?? 1,
            longestPause: try arguments.value(of: pauseOption, .wholeSeconds(0...86_400)),
            start: try arguments.value(of: fromOption, .utcTime),
            end: try arguments.value(of: untilOption, .utcTime))
        if let start = command.start, let end = command.end, end < start {
            throw CommandLineError(message: "--until is before --from")
        }
        return try ClientAction(command, arguments)
    }

    private static let toOption = OptionDescription(
        name: "--to", value: "TOPIC",
        details: ["The base topic, which must not overlap with the bridge's own or with", "Home Assistant's prefix."])
    private static let fromOption = OptionDescription(
        name: "--from", value: "TIME",
        details: [
            "The first time in UTC, such as 2026-11-20T17:00Z. The facts of that time",
            "are published first. Default: the first event.",
        ])
    private static let untilOption = OptionDescription(
        name: "--until", value: "TIME", details: ["The last time. Default: the last event."])
    private static let speedOption = OptionDescription(
        name: "--speed", value: "N", details: ["N times as fast as recorded, 1 to 10000 (default: 1)."])
    private static let pauseOption = OptionDescription(
        name: "--max-pause", value: "SECONDS",
        details: ["Shorten longer pauses between two events to this, 0 to 86400."])
}

extension ScalarRule where Value == Int64 {
    /// A time in UTC as milliseconds since 1970. Its end may be left out from the time of day on.
    static var utcTime: ScalarRule {
        ScalarRule(allowed: "a time in UTC such as 2026-11-20, 2026-11-20T17:00Z or 2026-11-20T17:00:30.500Z") {
            text throws(Rejection) in
            let rest = "1970-01-01T00:00:00.000"
            let given = text.hasSuffix("Z") ? text.dropLast() : text[...]
            let isComplete = text.hasSuffix("Z") ? [16, 19, 23].contains(given.utf8.count) : given.utf8.count == 10
            guard isComplete, let time = TimeText.unixMilliseconds(given + rest.dropFirst(given.utf8.count) + "Z")
            else {
                throw Rejection("is not such a time")
            }
            return time
        }
    }
}

extension ReplayCommand {
    static func overlappingBase(_ base: String, _ topic: String) -> ClientFailure {
        ClientFailure(
            exitCode: .wrongUsage, code: "invalid_argument",
            text: "--to \(base) overlaps with the topics below \(topic)", hint: "use another base topic, such as shadow"
        )
    }

    private static func noEvents(_ file: String) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: "no_events", text: "\(file) has no recorded events of this time",
            hint: "record.hours in the configuration of the bridge records events")
    }

    private static func trafficRecording(_ file: String) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: "no_events", text: "\(file) is a recording of Bluetooth traffic, not of events",
            hint: "jacquard-simulator --replay-traffic \(file)")
    }

    private static func unreadable(_ file: String, _ reason: String) -> ClientFailure {
        ClientFailure(exitCode: .failed, code: "file_error", text: "\(file): \(reason)")
    }
}
