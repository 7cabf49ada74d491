public import JSON
public import JacquardProtocol

/// A summary of a tag's protocol in a recording: MTU, times, and everything that the bridge does not know.
public struct TrafficSummary: Hashable, Sendable {
    /// A request and its response.
    public struct Exchange: Hashable, Sendable {
        /// The name of the operation, such as `battery_status`, or `domain 3 opcode 7`.
        public let operation: String
        /// The tag's status; nil without a response.
        public fileprivate(set) var status: Status?
        /// From the last fragment of the request to that of the response; nil without a response.
        public fileprivate(set) var microseconds: Int64?
        /// Whether the link or the recording ended soon after the request.
        fileprivate var isCut = false
        fileprivate let sentAt: Int64
        fileprivate let id: UInt32
    }

    /// The number of links that were made.
    public private(set) var links = 0
    /// The ATT MTU of the last link, in bytes; nil if it was not recorded.
    public private(set) var mtu: Int?
    /// The requests in order.
    public private(set) var exchanges: [Exchange] = []
    /// Notifications that the bridge knows, by operation such as `battery_status`, each with its number of occurrences.
    public private(set) var notifications: [String: Int] = [:]
    /// Kinds of packets that the bridge does not know, each with its number of occurrences.
    public private(set) var unknown: [String: Int] = [:]
    /// Packets that could not be put together or decoded.
    public private(set) var undecodable = 0
    /// The longest fragment of the tag, in bytes.
    public private(set) var longestFragment = 0
    /// The properties of the tag's characteristics.
    public private(set) var properties: [TagCharacteristic: Set<TrafficProperty>] = [:]
    /// The tag's own limits of the connection interval, in units of 1.25 ms.
    public private(set) var connectionInterval: ClosedRange<UInt32>?
    /// Links that ended without a request of the bridge, with the reason.
    public private(set) var losses: [String] = []
    /// Writes that failed, with the reason.
    public private(set) var failedWrites: [String] = []

    /// The number of the first exchange of the current link.
    private var firstOfLink = 0

    /// Summarizes a recording.
    public init(_ recording: TrafficRecording) {
        for event in recording.linkEvents {
            switch event {
            case .request(let packet): requested(packet)
            case .received(let packet): received(packet)
            case .other(let event, let time): take(event, at: time)
            }
        }
        linkEnded(at: recording.records.last?.microseconds ?? 0)
    }

    /// A request without a response counts only if the tag had this time to respond, in microseconds.
    static let responseLimit: Int64 = 1_000_000

    private mutating func linkEnded(at time: Int64) {
        for index in exchanges.indices[firstOfLink...] where time - exchanges[index].sentAt < Self.responseLimit {
            exchanges[index].isCut = true
        }
        firstOfLink = exchanges.count
    }

    private mutating func take(_ event: TrafficRecord.Event, at time: Int64) {
        switch event {
        case .connected:
            links += 1
            linkEnded(at: time)
        case .disconnected(let reason):
            // A tag that was requested to disconnect drops the link.
            let isRequested = exchanges[firstOfLink...].last?.operation == "request_disconnect"
            if let reason, !isRequested { losses.append(reason) }
            linkEnded(at: time)
        case .mtu(let mtu): self.mtu = mtu
        case .characteristics(let found): properties = found
        case .writeFailed(let reason): failedWrites.append(reason)
        default: break
        }
    }

    private mutating func requested(_ packet: RecordedPacket) {
        guard packet.characteristic == .command, let bytes = packet.packet,
            let (id, request) = try? Request.decode(bytes[...])
        else { return }
        exchanges.append(
            Exchange(operation: request.operationName, sentAt: packet.microseconds, id: id))
    }

    private mutating func received(_ packet: RecordedPacket) {
        longestFragment = max(longestFragment, packet.longestFragment)
        guard packet.characteristic != .rawData else { return }
        guard let bytes = packet.packet else { return undecodable += 1 }
        if packet.characteristic == .response {
            responded(bytes, at: packet.microseconds)
        } else {
            notified(bytes)
        }
    }

    private mutating func responded(_ packet: [UInt8], at microseconds: Int64) {
        guard let response = try? Response.decode(packet[...]) else { return undecodable += 1 }
        if case .config(let configuration)? = response.body, let least = configuration.ble?.minimumConnectionInterval,
            let most = configuration.ble?.maximumConnectionInterval, least <= most
        {
            connectionInterval = least...most
        }
        let index = exchanges[firstOfLink...].lastIndex { $0.id == response.id && $0.status == nil }
        guard let index else { return count("response without a request") }
        exchanges[index].status = response.status
        exchanges[index].microseconds = microseconds - exchanges[index].sentAt
    }

    private mutating func notified(_ packet: [UInt8]) {
        guard let notification = try? Notification.decode(packet[...]) else { return undecodable += 1 }
        if let body = notification.bodyName { return notifications[body, default: 0] += 1 }
        count("notification \(notification.operationName)")
    }

    private mutating func count(_ kind: String) {
        // The names come from the tag: at most this many are kept.
        let most = 64
        guard unknown.count < most || unknown[kind] != nil else { return }
        unknown[kind, default: 0] += 1
    }
}

extension TrafficSummary {
    /// The operations without a response, in order and each once.
    public var unanswered: [String] { operations { $0.status == nil && !$0.isCut } }

    /// The operations that the tag refused, each with the name of the status.
    public var refused: [String] {
        unique(
            exchanges.compactMap { exchange -> String? in
                guard let status = exchange.status, status != .ok else { return nil }
                return "\(exchange.operation) (\(status))"
            })
    }

    private func operations(where isIncluded: (Exchange) -> Bool) -> [String] {
        unique(exchanges.filter(isIncluded).map(\.operation))
    }

    private func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The median and the longest time to a response, in microseconds; nil without a response.
    public var responseTimes: (median: Int64, longest: Int64)? {
        let times = exchanges.compactMap(\.microseconds).sorted()
        return times.last.map { (times[times.count / 2], $0) }
    }

    /// The summary as a document.
    public var document: JSONValue {
        let times = responseTimes
        return [
            "links": .integer(Int64(links)), "mtu": JSONValue(mtu), "requests": .integer(Int64(exchanges.count)),
            "unanswered": .array(unanswered.map(JSONValue.string)), "refused": .array(refused.map(JSONValue.string)),
            "notifications": .object(notifications.mapValues { .integer(Int64($0)) }),
            "unknown": .object(unknown.mapValues { .integer(Int64($0)) }),
            "undecodable": .integer(Int64(undecodable)), "longest_fragment": .integer(Int64(longestFragment)),
            "response_median_us": times.map { .integer($0.median) } ?? .null,
            "response_longest_us": times.map { .integer($0.longest) } ?? .null,
            "connection_interval": connectionInterval.map {
                [.integer(Int64($0.lowerBound)), .integer(Int64($0.upperBound))]
            } ?? .null,
            "link_losses": .array(losses.map(JSONValue.string)),
            "failed_writes": .array(failedWrites.map(JSONValue.string)),
        ]
    }
}

extension Request {
    /// The name of the operation, such as `battery_status`; for an unknown one its numbers.
    var operationName: String { Operation.name(domain, opcode) }
}

extension Notification {
    fileprivate var operationName: String { Operation.name(domain, opcode) }

    /// The name of its body; nil if the bridge does not know it.
    fileprivate var bodyName: String? {
        if batteryStatus != nil { return "battery_status" }
        if attached != nil { return "attached" }
        if dataChannel != nil { return "gear_data" }
        if ledPattern != nil { return "led_pattern" }
        if disconnect != nil { return "disconnect" }
        return error == nil ? nil : "error"
    }
}

/// Names of operations, for people.
private enum Operation {
    static func name(_ domain: Domain, _ opcode: Opcode) -> String {
        let names: [Opcode: String] =
            switch domain {
            case .base: ofTag
            case .gear: ofGear
            default: [:]
            }
        return names[opcode] ?? "domain \(domain.rawValue) opcode \(opcode.rawValue)"
    }

    private static let ofTag: [Opcode: String] = [
        .hello: "hello", .begin: "begin", .disconnect: "disconnect", .deviceInfo: "device_info",
        .attached: "attached", .configRead: "settings_read", .configWrite: "settings_write", .error: "error",
        .ledPattern: "led_pattern", .batteryStatus: "battery_status", .configGet: "config_get",
        .configSet: "config_set", .requestDisconnect: "request_disconnect",
    ]
    private static let ofGear: [Opcode: String] = [
        .gearInfo: "gear_info", .gearLED: "gear_led", .gearHaptic: "gear_haptic", .gearData: "gear_data",
    ]
}
