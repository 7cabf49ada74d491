internal import Glibc

/// A record of DNS that names one node of a service. Source: RFC 2782.
struct ServiceRecord: Hashable, Sendable {
    /// Nodes with a smaller number are tried first.
    let priority: UInt16
    /// The share of the clients among nodes of the same priority.
    let weight: UInt16
    /// Host name and port.
    let address: MQTTAddress
}

extension ServiceRecord {
    /// The most records that are used of an answer.
    static let limit = 16

    /// Reads the records of type SRV in an answer of DNS. Records of other types are skipped.
    ///
    /// A target of `.` means that the service does not exist; it is left out.
    ///
    /// - Parameter message: the answer, from an untrusted server. Source: RFC 1035, section 4.
    /// - Returns: the records; nil for a malformed message.
    static func records(in message: [UInt8]) -> [ServiceRecord]? {
        var reader = DNSReader(message: message)
        guard reader.skip(4), let questions = reader.number(), let answers = reader.number(), reader.skip(4) else {
            return nil
        }
        for _ in 0..<questions { guard reader.skipName(), reader.skip(4) else { return nil } }
        var records: [ServiceRecord] = []
        for _ in 0..<answers where records.count < limit {
            guard reader.skipName(), let type = reader.number(), let kind = reader.number(), reader.skip(4),
                let length = reader.number(), let end = reader.end(of: length)
            else { return nil }
            if type == DNSReader.srv, kind == DNSReader.internet {
                guard let priority = reader.number(), let weight = reader.number(), let port = reader.number(),
                    let host = reader.name(), reader.position <= end
                else { return nil }
                if !host.isEmpty, port > 0 {
                    let address = MQTTAddress(host: host, port: port)
                    records.append(ServiceRecord(priority: priority, weight: weight, address: address))
                }
            }
            reader.position = end
        }
        return records
    }

    /// The addresses in the order in which a client tries them: by priority, and within a priority by weight.
    ///
    /// With a key, the order within a priority is that of weighted rendezvous hashing: the share of keys for which a node
    /// is the first one is proportional to its weight, and a node that is added or removed changes little else.
    static func ordered(_ records: [ServiceRecord], _ order: MQTTConfiguration.Order) -> [MQTTAddress] {
        let scored = records.map { (record: $0, score: $0.score(order)) }
        return scored.sorted { left, right in
            (Int(left.record.priority), left.score, left.record.address.description)
                < (Int(right.record.priority), right.score, right.record.address.description)
        }.map(\.record.address)
    }

    /// Smaller is earlier. A weight of 0 is a small one, as RFC 2782 recommends.
    private func score(_ order: MQTTConfiguration.Order) -> Double {
        switch order {
        case .listed: return -Double(weight)
        case .spread(let key):
            let hash = NodeRound.hash("\(key) \(address)")
            let uniform = (Double(hash >> 11) + 1) / Double(1 << 53)
            return -log(uniform) / max(Double(weight), 0.1)
        }
    }
}

/// Reads a message of DNS without reading past its end.
private struct DNSReader {
    static let srv: UInt16 = 33
    static let internet: UInt16 = 1

    let message: [UInt8]
    var position = 0

    init(message: [UInt8]) {
        self.message = message
    }

    mutating func skip(_ count: Int) -> Bool {
        guard message.count - position >= count else { return false }
        position += count
        return true
    }

    /// The position behind a part of this length; nil if the message is shorter.
    func end(of length: UInt16) -> Int? {
        message.count - position >= Int(length) ? position + Int(length) : nil
    }

    mutating func number() -> UInt16? {
        guard message.count - position >= 2 else { return nil }
        defer { position += 2 }
        return UInt16(message[position]) << 8 | UInt16(message[position + 1])
    }

    mutating func skipName() -> Bool { name(isChecked: false) != nil }

    /// A host name without the final dot; empty for the root. nil for a malformed one, and for one with characters that no
    /// host name has.
    mutating func name() -> String? { name(isChecked: true) }

    private mutating func name(isChecked: Bool) -> String? {
        var labels: [String] = []
        var index = position
        var end: Int?
        var length = 0
        while index < message.count {
            let size = Int(message[index])
            switch size {
            case 0:
                position = end ?? index + 1
                return labels.joined(separator: ".")
            case 1...63:
                length += size + 1
                guard message.count - index > size, length <= 254 else { return nil }
                let bytes = message[(index + 1)...(index + size)]
                guard !isChecked || bytes.allSatisfy(Self.isOfHost) else { return nil }
                labels.append(String(decoding: bytes, as: UTF8.self))
                index += size + 1
            case 0xC0...:
                // A pointer to an earlier name. It must point back; with the limit of the length, there is no endless loop.
                guard index + 1 < message.count else { return nil }
                let target = (size & 0x3F) << 8 | Int(message[index + 1])
                guard target < index else { return nil }
                end = end ?? index + 2
                index = target
            default: return nil
            }
        }
        return nil
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
