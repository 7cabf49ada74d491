import JSON
import JacquardProtocol

/// A line that a radio sends to a tag.
enum StandardIOMessage: Equatable {
    /// `{"connected":true}`, with `"mtu"` where it is known.
    case connected(mtu: Int)
    /// `{"connected":false}`
    case disconnected
    /// `{"write":"HEX","on":"command"}`
    case write([UInt8], on: TagCharacteristic)
    /// `{"subscribe":"notify"}`, `{"unsubscribe":"notify"}`
    case subscribe(TagCharacteristic, isOn: Bool)
    /// `{"do":"gesture double_tap"}`: a command without the tag's serial.
    case command(String)

    /// Reads a line.
    ///
    /// - Throws: ``CommandError`` that says what would have been right.
    init(_ text: String) throws(CommandError) {
        guard let line = JSONValue(parsing: Array(text.utf8)), case .object = line else {
            throw CommandError("no JSON object: \(text.prefix(80))")
        }
        if let isConnected = line["connected"]?.flag {
            self = isConnected ? .connected(mtu: Int(line["mtu"]?.integer ?? 247)) : .disconnected
        } else if let hex = line["write"]?.string {
            guard let value = [UInt8](hex: hex) else { throw CommandError("write takes an even number of hex digits") }
            self = .write(value, on: try Self.channel(line["on"]?.string))
        } else if let word = line["subscribe"]?.string {
            self = .subscribe(try Self.channel(word), isOn: true)
        } else if let word = line["unsubscribe"]?.string {
            self = .subscribe(try Self.channel(word), isOn: false)
        } else if let command = line["do"]?.string {
            self = .command(command)
        } else {
            throw CommandError("a line has connected (true or false), write, subscribe, unsubscribe or do (texts)")
        }
    }

    private static func channel(_ word: String?) throws(CommandError) -> TagCharacteristic {
        guard let channel = word.flatMap(TagCharacteristic.init(word:)) else {
            throw CommandError("a characteristic is command, response, notify or raw")
        }
        return channel
    }
}

extension SimulatorCommand {
    /// Reads a line without a tag, for the only tag that there is.
    ///
    /// - Throws: ``CommandError`` that says what would have been right.
    static func parse(_ line: String, for serial: String) throws(CommandError) -> SimulatorCommand {
        let words = line.split(separator: " ", maxSplits: 1)
        guard let verb = words.first else { throw CommandError("do needs a command") }
        return try parse(([verb, Substring(serial)] + words.dropFirst()).joined(separator: " "))
    }
}
