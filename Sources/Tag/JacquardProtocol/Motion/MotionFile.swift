import ProtobufWire

/// A recorded session as the tag stores it.
///
/// Two messages with their lengths, ``MotionMetadata`` and ``IMUConfiguration``; then one or more actions: start marker,
/// number, samples, end marker, result. Source: JacquardSDKiOS, `IMUParser`; JacquardSDKAndroid, `ImuParser`; protocol
/// article, "Motion".
public struct MotionFile: Equatable, Sendable {
    /// A part of the session between two markers.
    public struct Action: Equatable, Sendable {
        /// The number after the start marker.
        public var id: UInt32
        /// The samples, including the first one, which the iOS SDK loses.
        public var samples: [MotionSample] = []
        /// The number after the end marker; nil without an end marker. The SDKs disagree about its meaning.
        public var result: UInt16?

        /// Creates an action.
        public init(id: UInt32, samples: [MotionSample] = [], result: UInt16? = nil) {
            self.id = id
            self.samples = samples
            self.result = result
        }
    }

    /// Session, group, campaign, product and subject.
    public var metadata: MotionMetadata
    /// The rates and ranges of the sensor.
    public var configuration: IMUConfiguration
    /// The actions.
    public var actions: [Action]
    /// The number of bytes at the end that are no sample and no marker.
    public var unreadByteCount = 0

    /// Creates a session.
    public init(metadata: MotionMetadata, configuration: IMUConfiguration, actions: [Action]) {
        self.metadata = metadata
        self.configuration = configuration
        self.actions = actions
    }

    /// Whether every action has its end marker, and no bytes are left.
    public var isComplete: Bool {
        !actions.isEmpty && unreadByteCount == 0 && actions.allSatisfy { $0.result != nil }
    }

    /// The number of samples.
    public var sampleCount: Int { actions.reduce(0) { $0 + $1.samples.count } }

    /// The number of samples that are missing by their ticks.
    public var lostSampleCount: Int {
        actions.reduce(0) { sum, action in
            var counter = MotionLossCounter()
            for sample in action.samples { counter.add(sample.ticks) }
            return sum + counter.lost
        }
    }

    // MARK: Reading

    /// Why bytes are not a session.
    public enum ReadError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file ends in its header.
        case truncatedHeader
        /// A message of the header is too long, or cannot be read. The value is its name.
        case invalidMessage(String)
        /// The header is not followed by a start marker.
        case noStartMarker

        /// A clause for an error message.
        public var description: String {
            switch self {
            case .truncatedHeader: "it ends in its header"
            case .invalidMessage(let name): "its \(name) cannot be read"
            case .noStartMarker: "it has no start marker after its header"
            }
        }
    }

    /// The longest message of the header, in bytes.
    static let longestMessage = 1024

    /// Parses a file. The bytes may be anything.
    ///
    /// - Throws: ``ReadError`` if the header cannot be read. A file that ends later is a session that is not complete.
    public init(parsing bytes: [UInt8]) throws(ReadError) {
        var rest = bytes[...]
        metadata = try Self.message(&rest, "metadata")
        configuration = try Self.message(&rest, "sensor configuration")
        actions = []
        guard rest.starts(with: Self.startMarker) else {
            if rest.count < Self.startMarker.count, Self.startMarker.starts(with: rest) { throw .truncatedHeader }
            throw .noStartMarker
        }
        while let action = Self.action(&rest) { actions.append(action) }
        unreadByteCount = rest.count
    }

    private static let startMarker = [[UInt8]](repeating: [0xFE, 0xCA], count: 6).flatMap { $0 }
    private static let endMarker = [[UInt8]](repeating: [0xAD, 0xDE], count: 7).flatMap { $0 }

    private static func message<Message: WireMessage>(
        _ rest: inout ArraySlice<UInt8>, _ name: String
    ) throws(ReadError) -> Message {
        var reader = WireReader(rest)
        let length: UInt64
        do throws(ProtobufWireError) {
            length = try reader.readVarint()
        } catch {
            throw error == .truncated ? .truncatedHeader : .invalidMessage(name)
        }
        guard length <= UInt64(longestMessage) else { throw .invalidMessage(name) }
        let bytes = reader.remaining.prefix(Int(length))
        guard bytes.count == Int(length) else { throw .truncatedHeader }
        rest = reader.remaining[bytes.endIndex...]
        do throws(MessageError) {
            return try Message(packet: bytes)
        } catch {
            throw .invalidMessage(name)
        }
    }

    /// Reads an action; nil if no start marker with its number follows.
    private static func action(_ rest: inout ArraySlice<UInt8>) -> Action? {
        guard isStart(rest), let id = number(rest.dropFirst(startMarker.count), byteCount: 4) else { return nil }
        rest = rest.dropFirst(startMarker.count + 4)
        var action = Action(id: id)
        while rest.count >= MotionSample.byteCount {
            if rest.starts(with: endMarker) {
                action.result = number(rest.dropFirst(endMarker.count), byteCount: 2).map(UInt16.init)
                rest = rest.dropFirst(endMarker.count + 2)
                break
            }
            // The action was cut off, and the next one follows.
            if isStart(rest) { break }
            guard let sample = MotionSample(rest) else { break }
            action.samples.append(sample)
            rest = rest.dropFirst(MotionSample.byteCount)
        }
        return action
    }

    private static func isStart(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.starts(with: startMarker) }

    private static func number(_ bytes: ArraySlice<UInt8>, byteCount: Int) -> UInt32? {
        guard bytes.count >= byteCount else { return nil }
        return bytes.prefix(byteCount).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Writing

    /// The file's bytes, as a simulated tag stores them. An action without a result has no end marker.
    public func encoded() -> [UInt8] {
        var bytes = Self.encoded(metadata.packet) + Self.encoded(configuration.packet)
        for action in actions {
            bytes += Self.startMarker + (0..<4).map { UInt8(truncatingIfNeeded: action.id >> (8 * $0)) }
            for sample in action.samples { bytes += sample.encoded }
            guard let result = action.result else { continue }
            bytes += Self.endMarker + [UInt8(truncatingIfNeeded: result), UInt8(truncatingIfNeeded: result >> 8)]
        }
        return bytes
    }

    private static func encoded(_ message: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(varint: UInt64(message.count))
        return bytes + message
    }
}
