import JacquardProtocol
import Text

/// Replaces what identifies a tag or its owner: the given texts, and Bluetooth addresses.
///
/// A replacement has the length of the original, so that lengths and fragments of a recording stay valid: `X` for each
/// byte of a text except hyphens, spaces and dots.
public struct TrafficScrubber: Hashable, Sendable {
    /// The texts to replace, the longest first.
    private let texts: [[UInt8]]

    /// Shorter texts are kept: they identify no one, and would occur everywhere.
    public static let shortest = 3

    /// Creates a scrubber.
    ///
    /// - Parameter texts: serials, names and other texts to replace.
    public init(texts: some Sequence<String>) {
        self.texts = Set(texts).map { Array($0.utf8) }.filter { $0.count >= Self.shortest }
            .sorted { ($1.count, $0.hex) < ($0.count, $1.hex) }
    }

    /// The texts in a recording that identify the tag, its gear or its owner: serial numbers, names, and texts in the
    /// tag's store.
    public static func texts(in recording: TrafficRecording) -> Set<String> {
        var texts: Set<String> = []
        for event in recording.linkEvents {
            switch event {
            case .request(let packet): texts.formUnion(Self.texts(inRequest: packet.packet ?? []))
            case .received(let packet): texts.formUnion(Self.texts(inResponse: packet))
            case .other: break
            }
        }
        return texts
    }

    private static func texts(inRequest packet: [UInt8]) -> [String] {
        switch (try? Request.decode(packet[...]))?.request.body {
        case .configWrite(let configuration): [configuration.ble?.customAdvertisedName].compactMap(\.self)
        case .configSet(let body): Self.texts(in: body.element)
        default: []
        }
    }

    private static func texts(inResponse packet: RecordedPacket) -> [String] {
        guard packet.characteristic == .response, let bytes = packet.packet else { return [] }
        switch (try? Response.decode(bytes[...]))?.body {
        case .deviceInfo(let information):
            return [information.uuid, information.gearID].compactMap(\.self) + serial(in: information.uuid)
        case .config(let configuration): return [configuration.ble?.customAdvertisedName].compactMap(\.self)
        case .configGet(let body): return Self.texts(in: body.element)
        default: return []
        }
    }

    /// The serial in a long serial number, such as `003R` in `0-07-9324FLHBK0003R-1903`.
    private static func serial(in uuid: String) -> [String] {
        let groups = uuid.split(separator: "-")
        return groups.count >= 2 ? [String(groups[groups.count - 2].suffix(4))] : []
    }

    private static func texts(in element: ConfigElement?) -> [String] {
        if case .string(let text)? = element?.value { [text] } else { [] }
    }
}

extension TrafficScrubber {
    /// Replaces the texts in the packets of a recording, also if a text is spread over several fragments, and in the
    /// reasons of failures.
    public func scrubbed(_ recording: TrafficRecording) -> TrafficRecording {
        var records = recording.records
        for event in recording.linkEvents {
            switch event {
            case .request(let packet), .received(let packet): scrub(packet, in: &records)
            case .other: break
            }
        }
        for position in records.indices {
            switch records[position].event {
            case .disconnected(let reason?): records[position].event = .disconnected(reason: scrubbed(reason))
            case .writeFailed(let reason): records[position].event = .writeFailed(reason: scrubbed(reason))
            case .subscribeFailed(let characteristic, let reason):
                records[position].event = .subscribeFailed(characteristic, reason: scrubbed(reason))
            default: break
            }
        }
        return TrafficRecording(records: records)
    }

    private func scrub(_ packet: RecordedPacket, in records: inout [TrafficRecord]) {
        let headers = Self.headerLengths(of: packet)
        var bytes = zip(packet.fragments, headers).flatMap { $0.dropFirst($1) }
        guard replace(in: &bytes, atWordsOnly: false) else { return }
        var rest = bytes[...]
        for (index, fragment) in packet.fragments.enumerated() {
            let data = rest.prefix(fragment.count - headers[index])
            rest = rest.dropFirst(data.count)
            records[packet.positions[index]].event.replaceValue(Array(fragment.prefix(headers[index])) + data)
        }
    }

    /// The lengths of the headers before the data of each fragment.
    private static func headerLengths(of packet: RecordedPacket) -> [Int] {
        guard packet.packet != nil else { return packet.fragments.map { _ in 0 } }
        return packet.fragments.enumerated().map { index, fragment in
            guard index == 0 else { return min(1, fragment.count) }
            // The header byte, then the length as a varint, whose bytes but the last have the top bit.
            let length = fragment.dropFirst().prefix { $0 & 0x80 != 0 }.count + 1
            return min(1 + length, fragment.count)
        }
    }

    /// Replaces the texts where they stand as whole words, and Bluetooth addresses.
    public func scrubbed(_ text: String) -> String {
        var bytes = Array(text.utf8)
        _ = replace(in: &bytes, atWordsOnly: true)
        Self.replaceAddresses(in: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func replace(in bytes: inout [UInt8], atWordsOnly: Bool) -> Bool {
        var isChanged = false
        for text in texts where bytes.count >= text.count {
            var position = 0
            while position <= bytes.count - text.count {
                let end = position + text.count
                guard bytes[position..<end].elementsEqual(text),
                    !atWordsOnly || Self.isWord(position..<end, in: bytes)
                else {
                    position += 1
                    continue
                }
                for index in position..<end where !Self.kept.contains(bytes[index]) { bytes[index] = UInt8(ascii: "X") }
                isChanged = true
                position = end
            }
        }
        return isChanged
    }

    private static let kept = Set("- .".utf8)

    private static func isWord(_ range: Range<Int>, in bytes: [UInt8]) -> Bool {
        let before = range.lowerBound > 0 ? bytes[range.lowerBound - 1] : 0
        let after = range.upperBound < bytes.count ? bytes[range.upperBound] : 0
        return !isAlphanumeric(before) && !isAlphanumeric(after)
    }

    /// Letters beyond ASCII count too.
    private static func isAlphanumeric(_ byte: UInt8) -> Bool { ASCII.isAlphanumeric(byte) || byte >= 0x80 }

    /// Replaces six pairs of hexadecimal digits that are separated by colons or, as in BlueZ's paths, by underscores.
    private static func replaceAddresses(in bytes: inout [UInt8]) {
        let length = 17
        guard bytes.count >= length else { return }
        var position = 0
        while position <= bytes.count - length {
            let separator = bytes[position + 2]
            let isAddress =
                (separator == UInt8(ascii: ":") || separator == UInt8(ascii: "_"))
                && (0..<length).allSatisfy { index in
                    let byte = bytes[position + index]
                    return index % 3 == 2 ? byte == separator : ASCII.isHexadecimal(byte)
                }
            guard isAddress else {
                position += 1
                continue
            }
            for index in 0..<length where index % 3 != 2 { bytes[position + index] = UInt8(ascii: "X") }
            position += length
        }
    }
}

extension TrafficRecord.Event {
    /// Replaces the value of a write or a notification.
    fileprivate mutating func replaceValue(_ value: [UInt8]) {
        switch self {
        case .write(_, let characteristic, let withResponse):
            self = .write(value, on: characteristic, withResponse: withResponse)
        case .notified(_, let characteristic): self = .notified(value, on: characteristic)
        default: break
        }
    }
}
