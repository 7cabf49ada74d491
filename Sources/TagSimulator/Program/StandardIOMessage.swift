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

    private struct Line: Decodable {
        var connected: Bool?
        var mtu: Int?
        var write: String?
        var on: String?
        var subscribe: String?
        var unsubscribe: String?
        var `do`: String?
    }

    /// Reads a line.
    ///
    /// - Throws: ``CommandError`` that says what would have been right.
    init(_ text: String) throws(CommandError) {
        guard let line = try? JSONLine.decode(Line.self, from: text) else {
            throw CommandError("no JSON object with the right types: \(text.prefix(80))")
        }
        if let isConnected = line.connected {
            self = isConnected ? .connected(mtu: line.mtu ?? 247) : .disconnected
        } else if let hex = line.write {
            guard let value = [UInt8](hex: hex) else { throw CommandError("write takes an even number of hex digits") }
            self = .write(value, on: try Self.channel(line.on))
        } else if let word = line.subscribe {
            self = .subscribe(try Self.channel(word), isOn: true)
        } else if let word = line.unsubscribe {
            self = .subscribe(try Self.channel(word), isOn: false)
        } else if let command = line.do {
            self = .command(command)
        } else {
            throw CommandError("a line has connected, write, subscribe, unsubscribe or do")
        }
    }

    private static func channel(_ word: String?) throws(CommandError) -> TagCharacteristic {
        guard let channel = word.flatMap(TagCharacteristic.init(word:)) else {
            throw CommandError("a characteristic is command, response, notify or raw")
        }
        return channel
    }
}

extension SimulatorOutput {
    /// Writes an object as it is.
    func write(_ members: [String: JSONValue]) {
        plain(JSONLine.text(members))
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
