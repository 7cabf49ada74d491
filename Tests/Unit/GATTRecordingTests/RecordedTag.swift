import JacquardProtocol

@testable import GATTRecording

/// Builds recordings of a tag.
struct RecordedTag {
    private(set) var recording = TrafficRecording(records: [])
    /// The time of the next record, in microseconds.
    var microseconds: Int64 = 0

    /// Adds a record.
    mutating func add(_ event: TrafficRecord.Event, after time: Int64 = 1_000) {
        microseconds += time
        recording.records.append(
            TrafficRecord(number: recording.records.count + 1, microseconds: microseconds, event: event))
    }

    /// Adds a request of the bridge.
    mutating func request(_ request: Request, id: UInt32) throws {
        for fragment in try Fragmenter.fragments(of: request.encoded(id: id)) {
            add(.write(fragment, on: .command, withResponse: true))
        }
    }

    /// Adds a response of the tag.
    mutating func respond(_ response: Response, after time: Int64 = 20_000) throws {
        microseconds += time - 1_000
        for fragment in try Fragmenter.fragments(of: response.encoded()) {
            add(.notified(fragment, on: .response), after: 1_000)
        }
    }

    /// Adds a notification of the tag.
    mutating func notify(_ notification: Notification) throws {
        for fragment in try Fragmenter.fragments(of: notification.encoded()) {
            add(.notified(fragment, on: .notify))
        }
    }

    static let battery = Request(
        domain: .base, opcode: .batteryStatus, body: .batteryStatus(BatteryStatusRequest()))
    static let information = Request(
        domain: .base, opcode: .deviceInfo, body: .deviceInfo(DeviceInfoRequest(component: 0)))
}
