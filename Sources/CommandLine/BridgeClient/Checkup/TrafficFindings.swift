import GATTRecording
import JacquardProtocol
import Text

/// The findings of a checkup that follow from the recorded traffic.
enum TrafficFindings {
    /// Judges a recording that has the start of a connection.
    static func findings(_ recording: TrafficRecording) -> [CheckupFinding] {
        let summary = TrafficSummary(recording)
        return [
            CheckupFinding(name: "mtu", title: "MTU", verdict: mtu(summary)),
            CheckupFinding(name: "fragments", title: "fragments", verdict: fragments(summary)),
            CheckupFinding(name: "write", title: "writes", verdict: writes(summary)),
            CheckupFinding(name: "connection_interval", title: "connection interval", verdict: interval(summary)),
            CheckupFinding(name: "response_time", title: "time to a response", verdict: times(summary)),
            CheckupFinding(name: "battery_report", title: "battery without a request", verdict: announced(summary)),
            CheckupFinding(name: "requests", title: "all requests", verdict: requests(summary)),
            CheckupFinding(name: "packets", title: "all packets", verdict: packets(summary)),
            CheckupFinding(name: "link", title: "link", verdict: link(summary)),
        ]
    }

    private static func mtu(_ summary: TrafficSummary) -> CheckupVerdict {
        guard let mtu = summary.mtu else { return .missing("BlueZ has not reported it") }
        let expected = Fragment.maximumLength + 3
        return mtu >= expected ? .works("\(mtu)") : .differs("\(mtu), expected at least \(expected)")
    }

    private static func fragments(_ summary: TrafficSummary) -> CheckupVerdict {
        guard summary.longestFragment > 0 else { return .missing("the tag has sent nothing") }
        let most = Fragment.length(mtu: summary.mtu ?? Fragment.maximumLength + 3)
        let found = "at most \(summary.longestFragment) bytes"
        return summary.longestFragment <= most ? .works(found) : .differs("\(found), expected at most \(most)")
    }

    private static func writes(_ summary: TrafficSummary) -> CheckupVerdict {
        if let reason = summary.failedWrites.first {
            return .differs("\(summary.failedWrites.count) failed: \(reason)")
        }
        guard let properties = summary.properties[.command] else { return .missing("no characteristics were recorded") }
        return properties.contains(.write)
            ? .works("with response for the start, without response after it")
            : .differs("without response only, as in firmware before 1.43")
    }

    private static func interval(_ summary: TrafficSummary) -> CheckupVerdict {
        guard let interval = summary.connectionInterval else { return .missing("the tag has not reported its limits") }
        func milliseconds(_ units: UInt32) -> String { "\(Double(units) * 1.25)" }
        return .works(
            "\(milliseconds(interval.lowerBound)) to \(milliseconds(interval.upperBound)) ms, the tag's limits")
    }

    private static func times(_ summary: TrafficSummary) -> CheckupVerdict {
        guard let times = summary.responseTimes else { return .missing("the tag has not responded") }
        return .works("median \(times.median / 1_000) ms, longest \(times.longest / 1_000) ms")
    }

    private static func announced(_ summary: TrafficSummary) -> CheckupVerdict {
        let count = summary.notifications["battery_status"] ?? 0
        return count > 0 ? .works(counted(count, "report")) : .missing("the tag has reported no battery by itself")
    }

    private static func requests(_ summary: TrafficSummary) -> CheckupVerdict {
        var problems: [String] = []
        if !summary.unanswered.isEmpty { problems.append("without a response: \(listed(summary.unanswered))") }
        if !summary.refused.isEmpty { problems.append("refused: \(listed(summary.refused))") }
        guard problems.isEmpty else { return .differs(problems.joined(separator: "; ")) }
        return summary.exchanges.isEmpty ? .missing("none") : .works("\(summary.exchanges.count), each with a response")
    }

    private static func packets(_ summary: TrafficSummary) -> CheckupVerdict {
        var problems = summary.unknown.sorted { $0.key < $1.key }.map { "\($0.key) (\(counted($0.value, "time")))" }
        if summary.undecodable > 0 { problems.append("\(summary.undecodable) that cannot be decoded") }
        return problems.isEmpty ? .works("all known") : .differs("unknown: \(listed(problems))")
    }

    private static func link(_ summary: TrafficSummary) -> CheckupVerdict {
        guard let reason = summary.losses.first else {
            return .works("\(counted(summary.links, "connection")), none lost")
        }
        return .differs("\(counted(summary.losses.count, "time")) lost: \(reason)")
    }

    private static func listed(_ names: [String]) -> String { names.joined(separator: ", ") }
}
