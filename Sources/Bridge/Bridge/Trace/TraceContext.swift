import JacquardProtocol
import MQTTTypes
import Text
import Time

/// Creates the `traceparent` of each gesture. Source: W3C Trace Context, section 3.2.
///
/// The identifiers are functions of the start and the gesture, so that they are not stored.
struct TraceContext: Sendable {
    /// The first half of every trace id of this start.
    private let start: UInt64

    /// - Parameters:
    ///   - instance: the bridge's name.
    ///   - boot: identifies the start.
    ///   - startedAt: when the bridge was started.
    init(instance: String, boot: String, startedAt: Timestamp) {
        start = FNV1a("\(instance)/\(boot)/\(startedAt.unixMilliseconds)".utf8).value
    }

    /// Returns the trace id of a gesture: 32 hexadecimal digits.
    func traceID(tag: TagHandle, sequence: UInt64) -> String {
        var numbers = numbers(tag, sequence)
        return Self.hexadecimal([start, numbers.next()])
    }

    /// Returns the `traceparent` of a gesture: version, trace id, span id, and the flag "sampled". Source of its place: W3C "Trace
    /// Context: MQTT protocol", section 4.
    func parent(tag: TagHandle, sequence: UInt64) -> MQTTUserProperty {
        var numbers = numbers(tag, sequence)
        // Zero is not allowed as a span id.
        let trace = Self.hexadecimal([start, numbers.next()])
        return MQTTUserProperty("traceparent", "00-\(trace)-\(Self.hexadecimal([max(1, numbers.next())]))-01")
    }

    private func numbers(_ tag: TagHandle, _ sequence: UInt64) -> SplitMix {
        SplitMix(seed: start ^ (UInt64(tag.number) << 48) ^ sequence)
    }

    private static func hexadecimal(_ numbers: [UInt64]) -> String {
        numbers.flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) }.hex
    }
}
