public import JSON
public import JacquardProtocol
import Text

/// One line of a recording: an event of the Bluetooth traffic with a tag.
public struct TrafficRecord: Hashable, Sendable {
    /// An event of the Bluetooth traffic.
    public enum Event: Hashable, Sendable {
        /// The link is up.
        case connected
        /// The link is down. The reason is nil if the bridge has requested it.
        case disconnected(reason: String?)
        /// The ATT MTU of the link, in bytes.
        case mtu(Int)
        /// The tag's characteristics, with the words of ``TrafficProperty``.
        case characteristics([TagCharacteristic: Set<TrafficProperty>])
        /// The bridge has enabled notifications of a characteristic.
        case subscribed(TagCharacteristic)
        /// Notifications could not be enabled.
        case subscribeFailed(TagCharacteristic, reason: String)
        /// The bridge writes a value.
        case write([UInt8], on: TagCharacteristic, withResponse: Bool)
        /// The tag has confirmed the write, or the Bluetooth stack has accepted it.
        case written
        /// The write failed.
        case writeFailed(reason: String)
        /// The tag notifies a value.
        case notified([UInt8], on: TagCharacteristic)
        /// The recording has ended.
        case end(reason: String)
    }

    /// The position in the recording, from 1. A gap means that records were lost on their way to the file.
    public var number: Int
    /// Microseconds since the start of the recording, by a clock that runs forward only.
    public var microseconds: Int64
    /// The event.
    public var event: Event

    /// The longest value of a characteristic, in bytes.
    public static let longestValue = 512
    /// The longest reason, in bytes.
    static let longestReason = 256

    /// Creates a record.
    public init(number: Int, microseconds: Int64, event: Event) {
        self.number = number
        self.microseconds = microseconds
        self.event = event
    }
}

/// A property of a recorded characteristic.
public enum TrafficProperty: String, Hashable, Sendable, CaseIterable {
    /// Write with response.
    case write
    /// Write without response.
    case writeWithoutResponse = "write_without_response"
    /// Notifications.
    case notify
}

extension TrafficRecord {
    /// The record as a document with the keys `n`, `t_us`, `event` and those of the event.
    public var document: JSONValue {
        .object(
            members.merging(["n": .integer(Int64(number)), "t_us": .integer(microseconds)]) { first, _ in first })
    }

    private var members: [String: JSONValue] {
        switch event {
        case .connected: Self.members("connected")
        case .disconnected(let reason): Self.members("disconnected", ["reason": JSONValue(reason)])
        case .mtu(let mtu): Self.members("mtu", ["mtu": .integer(Int64(mtu))])
        case .characteristics(let found):
            Self.members("characteristics", ["properties": Self.document(of: found)])
        case .subscribed(let characteristic): Self.members("subscribed", ["on": .string(characteristic.word)])
        case .subscribeFailed(let characteristic, let reason):
            Self.members("subscribe_failed", ["on": .string(characteristic.word), "reason": .string(reason)])
        case .write(let value, let characteristic, let withResponse):
            Self.members(
                "write",
                [
                    "on": .string(characteristic.word), "value": .string(value.hex), "response": .bool(withResponse),
                ])
        case .written: Self.members("written")
        case .writeFailed(let reason): Self.members("write_failed", ["reason": .string(reason)])
        case .notified(let value, let characteristic):
            Self.members("notified", ["on": .string(characteristic.word), "value": .string(value.hex)])
        case .end(let reason): Self.members("end", ["reason": .string(reason)])
        }
    }

    private static func members(_ event: String, _ others: [String: JSONValue] = [:]) -> [String: JSONValue] {
        others.merging(["event": .string(event)]) { first, _ in first }
    }

    private static func document(of found: [TagCharacteristic: Set<TrafficProperty>]) -> JSONValue {
        let members = found.map { characteristic, properties in
            (characteristic.word, JSONValue.array(properties.map(\.rawValue).sorted().map(JSONValue.string)))
        }
        return .object(Dictionary(uniqueKeysWithValues: members))
    }
}

extension TrafficRecord {
    /// Reads a document. Unknown keys are ignored.
    ///
    /// - Returns: nil if a key is missing or its value is out of range.
    public init?(_ document: JSONValue) {
        guard let number = document["n"]?.integer, let time = document["t_us"]?.integer,
            (1...Int64(TrafficRecording.maxRecords) + 1).contains(number), (0...Self.longestTime).contains(time),
            let event = Event(document)
        else { return nil }
        self.init(number: Int(number), microseconds: time, event: event)
    }

    /// One day, in microseconds.
    private static let longestTime: Int64 = 86_400_000_000
}

extension TrafficRecord.Event {
    fileprivate init?(_ document: JSONValue) {
        let reason = document["reason"]?.string.map { $0.shortened(to: TrafficRecord.longestReason) }
        let characteristic = document["on"]?.string.flatMap(TagCharacteristic.init(word:))
        let value = document["value"]?.string.flatMap([UInt8].init(hex:))
        if let value, value.count > TrafficRecord.longestValue { return nil }
        switch (document["event"]?.string, characteristic, value) {
        case ("connected", _, _): self = .connected
        case ("disconnected", _, _): self = .disconnected(reason: reason)
        case ("mtu", _, _):
            guard let mtu = document["mtu"]?.integer, (23...517).contains(mtu) else { return nil }
            self = .mtu(Int(mtu))
        case ("characteristics", _, _):
            guard case .object(let found)? = document["properties"] else { return nil }
            self = .characteristics(Self.characteristics(found))
        case ("subscribed", let characteristic?, _): self = .subscribed(characteristic)
        case ("subscribe_failed", let characteristic?, _):
            self = .subscribeFailed(characteristic, reason: reason ?? "")
        case ("write", let characteristic?, let value?):
            self = .write(value, on: characteristic, withResponse: document["response"]?.flag ?? true)
        case ("written", _, _): self = .written
        case ("write_failed", _, _): self = .writeFailed(reason: reason ?? "")
        case ("notified", let characteristic?, let value?): self = .notified(value, on: characteristic)
        case ("end", _, _): self = .end(reason: reason ?? "")
        default: return nil
        }
    }

    private static func characteristics(_ found: [String: JSONValue]) -> [TagCharacteristic: Set<TrafficProperty>] {
        let known = found.compactMap { word, value in
            TagCharacteristic(word: word).map { characteristic in
                (characteristic, Set((value.elements ?? []).compactMap(\.string).compactMap(TrafficProperty.init)))
            }
        }
        return Dictionary(known) { first, _ in first }
    }
}

extension TagCharacteristic {
    /// The word for the characteristic in recordings and in the simulator.
    public var word: String {
        switch self {
        case .command: "command"
        case .response: "response"
        case .notify: "notify"
        case .rawData: "raw"
        }
    }

    /// Creates a characteristic from its word; nil for any other text.
    public init?(word: String) {
        guard let characteristic = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = characteristic
    }
}

extension String {
    /// The first part of the text, at most this many bytes.
    func shortened(to bytes: Int) -> String {
        utf8.count <= bytes ? self : String(decoding: utf8.prefix(bytes), as: UTF8.self)
    }
}
