import EventLoop
import FakeBlueZ
import GATTRecording
import Glibc
import JSON
import JacquardProtocol
import TagFirmware
import Text

/// Connects one tag's firmware to standard input and output, for an external radio simulation.
@LoopActor
final class StandardIORadio {
    private let tag: SimulatedTag
    private let simulation: Simulation
    private let output = SimulatorOutput(isJSON: true)
    private let input = LineReader()
    private var signals: [SignalSource] = []

    /// - Throws: ``CommandError`` if the recording cannot be read.
    init(_ options: SimulatorOptions) throws(CommandError) {
        let tags = try TagFactory.tags(options)
        tag = tags[0]
        simulation = Simulation(tags: tags, blueZ: nil)
    }

    /// Runs until standard input ends.
    func run() async -> String? {
        await withCheckedContinuation { continuation in
            var end: CheckedContinuation<String?, Never>? = continuation
            let finish: @LoopActor () -> Void = {
                end?.resume(returning: nil); end = nil
            }
            signals = [SIGTERM, SIGINT].compactMap { try? SignalSource($0, handler: finish) }
            tag.onEvent = { [output] in output.write(["told": .object(EventRecord.members(of: $0))]) }
            tag.onAdvertise = { [weak self] in self?.advertise($0) }
            advertise(tag.firmware.advertisement)
            input.onLine = { [weak self] in self?.take($0) }
            input.onOverlongLine = { [output] in
                output.write(["error": .string("a line has more than \(LineReader.limit) bytes")])
            }
            input.onEnd = finish
            input.start()
        }
    }

    private func advertise(_ advertisement: FirmwareAdvertisement?) {
        guard let advertisement else { return output.write(["advertise": .null]) }
        let data = [String(FirmwareAdvertisement.company): JSONValue.string(advertisement.manufacturerData.hex)]
        output.write([
            "advertise": .object([
                "name": .string(advertisement.name), "manufacturer_data": .object(data),
                "services": .array(FirmwareAdvertisement.services.map(JSONValue.string)),
            ])
        ])
    }

    private func take(_ line: String) {
        guard line.contains(where: { !$0.isWhitespace }) else { return }
        do {
            try execute(try StandardIOMessage(line))
        } catch {
            output.write(["error": .string("\(error)")])
        }
    }

    private func execute(_ message: StandardIOMessage) throws(CommandError) {
        switch message {
        case .connected(let mtu): tag.linked(self, mtu: mtu)
        case .disconnected: tag.unlinked()
        case .write(let value, let channel): tag.write(value, on: channel.uuid)
        case .subscribe(let channel, let isOn): tag.subscribed(channel.uuid, isOn: isOn)
        case .command(let line):
            try simulation.execute(try SimulatorCommand.parse(line, for: tag.serial))
            output.write(["done": .string(line)])
        }
    }
}

extension StandardIORadio: PeripheralLink {
    func notify(_ value: [UInt8], on characteristic: String) -> NotifyOutcome {
        let word = TagCharacteristic(rawValue: characteristic)?.word ?? ""
        output.write(["notify": .string(value.hex), "on": .string(word)])
        return .delivered
    }

    /// Requests the end of the link; the radio reports when it is down.
    func drop(because end: LinkDrop) {
        output.write(["drop_link": .bool(true)])
    }
}

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
            self = isConnected ? .connected(mtu: try Self.mtu(line["mtu"])) : .disconnected
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

    private static func mtu(_ value: JSONValue?) throws(CommandError) -> Int {
        guard let value, value != .null else { return 247 }
        guard let mtu = value.integer.flatMap(Int.init(exactly:)), SimulatorOptions.mtus.contains(mtu) else {
            let range = SimulatorOptions.mtus
            throw CommandError("mtu is \(range.lowerBound) to \(range.upperBound)")
        }
        return mtu
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
