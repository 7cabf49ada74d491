import Bridge
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import GATTRecording
import Glibc
import JSON
import Terminal
import Text

/// The report of a checkup: one text with sections, without what identifies the tag, its owner or the network.
struct CheckupReport: Sendable {
    /// The findings.
    let findings: [CheckupFinding]
    /// The retained topics of the bridge and the tag.
    let facts: RetainedFacts
    /// The tag's ID.
    let tag: String
    /// The configuration of the command line, usually that of the bridge.
    let configuration: Settings
    /// The recorded traffic, already scrubbed; nil if it could not be recorded.
    let recording: TrafficRecording?
    /// The lines of the log; nil if they could not be read.
    let log: String?
    /// Names and versions of the system.
    let system: String

    /// The table of findings, for people.
    var table: [String] {
        var table = TextTable(titles: ["FEATURE", "RESULT", "TIME", "DETAIL"])
        table.rows = findings.map { finding in
            [
                finding.title, finding.verdict.word, finding.milliseconds.map { "\($0) ms" } ?? "",
                finding.verdict.detail,
            ]
        }
        return table.lines
    }

    /// The report as text.
    var text: String {
        let scrubber = TrafficScrubber(texts: identifyingTexts)
        func section(_ title: String, _ text: String) -> String { "== \(title) ==\n\(scrubber.scrubbed(text))\n\n" }
        func document(_ title: String, _ value: JSONValue?) -> String {
            "== \(title) ==\n\(Self.scrubbed(value ?? .null, scrubber).text)\n\n"
        }
        return "jacquard2mqtt report, version 1\n"
            + "Serial numbers, names, addresses and texts of the configuration are replaced by X or left out.\n\n"
            + section("findings", table.joined(separator: "\n"))
            + document("findings as JSON", .array(findings.map(\.document))) + section("versions", versions)
            + document("adapters", facts.bridge("adapter")) + document("health", facts.bridge("health"))
            + "== tag ==\n\(tagFacts(scrubber))\n\n"
            + section("configuration", configurationLines.joined(separator: "\n"))
            // Scrubbed already, and a text of digits could occur in its numbers.
            + "== recording ==\n\(recording?.text ?? "not available\n")\n"
            + section(
                "log",
                log.map(Self.withoutIdentities) ?? "not available: journalctl has no lines of the unit jacquard2mqtt")
    }

    /// The keys of log lines whose values identify a tag, a host or a person. The lines are also about tags that the
    /// bridge does not have, and about nodes of the broker that the configuration does not name.
    private static let identifyingKeys = ["tag", "serial", "member", "address", "endpoint", "topic", "path", "user"]

    /// Replaces the values of these keys in a log, ` key=value` or `"key":"value"`, by X.
    static func withoutIdentities(_ log: String) -> String {
        let starts = identifyingKeys.flatMap { [Array(" \($0)=".utf8), Array("\"\($0)\":".utf8)] }
        var result: [UInt8] = []
        var rest = Array(log.utf8)[...]
        while let first = rest.first {
            guard let start = starts.first(where: rest.starts) else {
                result.append(first)
                rest = rest.dropFirst()
                continue
            }
            result += start + [UInt8(ascii: "X")]
            rest = afterValue(rest.dropFirst(start.count))
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns what follows a value: a quoted text, or everything up to a space, comma or bracket.
    private static func afterValue(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let quote = UInt8(ascii: "\"")
        guard text.first == quote else { return text.drop { !" ,}]\n".utf8.contains($0) } }
        var isEscaped = false
        for (position, byte) in zip(text.indices, text).dropFirst() {
            if byte == quote, !isEscaped { return text[(position + 1)...] }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return []
    }

    private var versions: String {
        let info = facts.bridge("info")
        let bridge = ["version", "bluez", "mqtt"].map { "\($0) \(info?[$0]?.word ?? "unknown")" }
        return "command line \(Version.current)\nbridge: \(bridge.joined(separator: ", "))\n\(system)"
    }

    /// The tag's topics, without those whose values are names.
    private func tagFacts(_ scrubber: TrafficScrubber) -> String {
        ["availability", "connection", "battery", "gear", "touch_mode", "led", "rssi", "stats"].map { name in
            "\(name) \(Self.scrubbed(facts.tag(tag, name) ?? .null, scrubber).text)"
        }.joined(separator: "\n")
    }

    /// Replaces texts in the values of a document. Its keys are not private, whatever a tag's name is.
    private static func scrubbed(_ value: JSONValue, _ scrubber: TrafficScrubber) -> JSONValue {
        switch value {
        case .string(let text): .string(scrubber.scrubbed(text))
        case .array(let items): .array(items.map { scrubbed($0, scrubber) })
        case .object(let members): .object(members.mapValues { scrubbed($0, scrubber) })
        default: value
        }
    }

    /// The keys of the configuration with their values. Of texts, only that they are set: they may be names, addresses or
    /// paths.
    var configurationLines: [String] {
        Settings.printableKeys.flatMap { key in
            (configuration.values(of: key) ?? []).map { "\(key): \(Self.shown($0, of: key))" }
        }
    }

    private static func shown(_ value: String, of key: String) -> String {
        let isPlain = value.isEmpty || value == "true" || value == "false" || Double(value) != nil
        let isSerial = key.hasPrefix("tags.")
        return isPlain && !isSerial || isOfVocabulary(value) ? value : "(set)"
    }

    /// Whether a value has words of the configuration's vocabulary only.
    private static func isOfVocabulary(_ value: String) -> Bool {
        value.split(separator: ",").allSatisfy { vocabulary.contains(ASCII.trimmed($0)) }
    }

    private static let vocabulary = Settings.vocabulary

    /// The keys whose texts have only words of the program, whatever they are.
    private static let commands: Set<String> = ["reflexes.N.do"]

    /// Texts that identify no one although they may be the values of such keys.
    private static let defaults: Set<String> = [
        "auto", "hci0", "jacquard", "homeassistant", "homeassistant/status", "localhost", "127.0.0.1",
    ]

    private var identifyingTexts: Set<String> {
        let tags = facts.tags.map { facts.identifyingTexts(of: $0) }.reduce(into: Set<String>()) { $0.formUnion($1) }
        let hidden = Settings.printableKeys.filter { !Self.commands.contains($0) }.flatMap { key in
            (configuration.values(of: key) ?? []).filter { Self.shown($0, of: key) != $0 }.flatMap {
                [$0] + $0.split(separator: ",").map(ASCII.trimmed)
            }
        }
        return tags.union(hidden).union([facts.topics.instance]).union(facts.identifyingTexts(of: tag))
            .subtracting(Self.defaults).subtracting(Self.vocabulary)
    }
}

/// The sources of a report on the machine.
enum ReportSources {
    /// The newest lines of the bridge's journal; nil if there are none or they must not be read.
    @LoopActor
    static func log() async -> String? {
        let lines = await HelperThread.shared.run(.programs) {
            Subprocess.output(
                of: "journalctl",
                [
                    "--unit=jacquard2mqtt", "--lines=300", "--no-pager", "--quiet", "--output=short-iso-precise",
                    "--no-hostname",
                ],
                within: .seconds(10))
        }
        return lines.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The kernel and the distribution.
    static var system: String {
        var name = utsname()
        uname(&name)
        let kernel = withUnsafeBytes(of: &name.release) { text($0) }
        let machine = withUnsafeBytes(of: &name.machine) { text($0) }
        return "Linux \(kernel) \(machine)"
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
