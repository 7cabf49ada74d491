internal import Glibc

/// A topic filter, parsed once. Source: MQTT 5.0, section 4.7; that of 3.1.1 is the same.
public struct MQTTTopicFilter: Sendable, Hashable, CustomStringConvertible {
    private enum Level: Sendable, Hashable {
        case name([UInt8])
        /// `+`
        case any
        /// `#`
        case rest
    }

    /// The filter as it was written.
    public let description: String
    private let levels: [Level]

    /// Parses a filter.
    ///
    /// Range: 1 to 65,535 bytes without NUL; `+` and `#` are levels of their own, `#` the last one.
    ///
    /// - Throws: ``MQTTError/Code/invalidMessage`` when it is not such a text.
    public init(_ text: String) throws(MQTTError) {
        description = text
        levels = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Self.level)
        guard (1...65_535).contains(text.utf8.count), !text.containsNUL else {
            throw MQTTError(.invalidMessage, "a topic filter has 1 to 65,535 bytes and no NUL")
        }
        guard !levels.dropLast().contains(.rest), !levels.contains(where: Self.isMixed) else {
            throw MQTTError(.invalidMessage, "'\(text)' is no topic filter: + and # stand alone, # at the end")
        }
    }

    /// Whether a message of that topic reaches a subscription of this filter.
    ///
    /// A wildcard at the beginning does not match topics that begin with `$`, which are the broker's own.
    public func matches(_ topic: String) -> Bool {
        var topic = topic
        return topic.withUTF8(matches)
    }

    private func matches(_ topic: UnsafeBufferPointer<UInt8>) -> Bool {
        if topic.first == UInt8(ascii: "$"), levels.first == .any || levels.first == .rest { return false }
        var begin = 0
        for level in levels {
            // `a/#` matches `a` too: # stands for the level above and everything below.
            if case .rest = level { return true }
            guard begin <= topic.count, let start = topic.baseAddress?.advanced(by: begin) else { return false }
            let slash = memchr(start, CInt(UInt8(ascii: "/")), topic.count - begin)
            let length = slash.map { UnsafeRawPointer($0) - UnsafeRawPointer(start) } ?? topic.count - begin
            if case .name(let bytes) = level, bytes.count != length || memcmp(bytes, start, length) != 0 {
                return false
            }
            begin += length + 1
        }
        return begin == topic.count + 1
    }

    private static func level(_ bytes: Substring.UTF8View) -> Level {
        switch Array(bytes) {
        case [UInt8(ascii: "+")]: .any
        case [UInt8(ascii: "#")]: .rest
        case let name: .name(name)
        }
    }

    private static func isMixed(_ level: Level) -> Bool {
        guard case .name(let bytes) = level else { return false }
        return bytes.contains(UInt8(ascii: "+")) || bytes.contains(UInt8(ascii: "#"))
    }
}

extension String {
    /// Whether C would see the beginning only.
    var containsNUL: Bool { withCString { strlen($0) } != utf8.count }
}
