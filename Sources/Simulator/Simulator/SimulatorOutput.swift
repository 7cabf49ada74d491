import EventLoop
import Glibc
import JSON
import JacquardProtocol
import TagFirmware

/// The standard output of the simulator, one line at a time, for people or as JSON.
@LoopActor
struct SimulatorOutput {
    let isJSON: Bool

    /// A line, its control characters escaped: names of tags and effects come from outside.
    func plain(_ text: String) {
        let bytes = Array((TerminalText.escaped(text) + "\n").utf8)
        // Don't write to a reader that has closed its end.
        _ = Glibc.write(STDOUT_FILENO, bytes, bytes.count)
    }

    /// An object on one line: sorted keys, so that equal facts are equal lines.
    nonisolated static func text(of members: [String: JSONValue]) -> String {
        TerminalText.escapedJSON(String(decoding: JSONText.bytes(of: JSONValue.object(members)), as: UTF8.self))
    }

    /// An object as it is.
    func write(_ members: [String: JSONValue]) {
        plain(Self.text(of: members))
    }

    func event(_ event: SimulatorEvent) {
        plain(isJSON ? Self.text(of: EventRecord.members(of: event)) : EventText.line(for: event))
    }

    /// The answer to a command that was carried out.
    func done(_ command: String) {
        plain(isJSON ? Self.text(of: ["event": .string("ok"), "command": .string(command)]) : "ok")
    }

    /// The answer to a command that was not.
    func refused(_ command: String, _ error: CommandError) {
        guard isJSON else { return plain("error: \(error)") }
        plain(
            Self.text(of: [
                "event": .string("error"), "command": .string(command), "error": .string(error.description),
            ]))
    }

    /// The commands. A reader of JSON gets all of them on one line.
    func help() {
        for line in isJSON ? [CommandRow.help.joined(separator: "\n")] : CommandRow.help { plain(line) }
    }

    func list(_ tags: [SimulatedTag]) {
        guard !isJSON else { return tags.forEach { write(record(of: $0)) } }
        Self.aligned(tags.map(words)).forEach(plain)
    }

    /// A line for each row, with two blanks between its columns.
    nonisolated static func aligned(_ rows: [[String]]) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let padded = zip(row, widths).dropLast().map { word, width in
                word + String(repeating: " ", count: width - word.count)
            }
            return (padded + row.suffix(1)).joined(separator: "  ")
        }
    }

    private func words(of tag: SimulatedTag) -> [String] {
        let firmware = tag.firmware
        let battery = "\(firmware.battery.level) %\(firmware.battery.isCharging ? " charging" : "")"
        return [tag.serial, tag.address, tag.state, battery, firmware.gear?.gear.word ?? "no gear", firmware.name]
    }

    private func record(of tag: SimulatedTag) -> [String: JSONValue] {
        let firmware = tag.firmware
        return [
            "event": .string("tag"), "tag": .string(tag.serial), "address": .string(tag.address),
            "state": .string(tag.state), "battery": .integer(Int64(firmware.battery.level)),
            "charging": .bool(firmware.battery.isCharging),
            "gear": firmware.gear.map { .string($0.gear.word) } ?? .null,
            "touch_mode": firmware.gear.map { .string($0.touchMode.word) } ?? .null, "name": .string(firmware.name),
        ]
    }
}

extension SimulatedTag {
    /// Its state, in a word.
    fileprivate var state: String {
        if !isInRange { return "out_of_range" }
        if firmware.isConnected { return "connected" }
        return firmware.isAsleep ? "asleep" : "advertising"
    }
}
