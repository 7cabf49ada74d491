import ProtobufWire

/// Splits the bytes of a connection into frames. It keeps at most one incomplete frame.
struct FrameReader: Sendable {
    /// The two forms of a connection.
    enum Form: Sendable {
        /// 0x00, length and type as varints, protobuf.
        case plain
        /// 0x01, length in 16 bits, high byte first, encrypted payload.
        case encrypted
    }

    /// A frame. The type of an encrypted one is inside its payload.
    struct Frame: Hashable, Sendable {
        let type: UInt32
        let payload: [UInt8]
    }

    /// The largest payload, which is that of the encrypted form.
    static let maximumLength = 65_535

    let form: Form
    /// The largest payload that is accepted now.
    var limit = maximumLength
    private var buffer: [UInt8] = []
    private var position = 0

    init(_ form: Form) {
        self.form = form
    }

    /// The number of bytes that wait for the rest of their frame.
    var pendingCount: Int { buffer.count - position }

    /// Appends received bytes. Take all frames with ``next()`` before the next call.
    mutating func append(_ bytes: some Collection<UInt8>) {
        if position > 0 {
            buffer.removeFirst(position)
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next complete frame; nil if there is none.
    ///
    /// - Throws: ``ProxyError`` for bytes that are no frame. The connection must be closed.
    mutating func next() throws(ProxyError) -> Frame? {
        let rest = buffer[position...]
        guard let marker = rest.first else { return nil }
        guard marker == (form == .plain ? 0 : 1) else {
            throw marker <= 1 ? (form == .plain ? .encryptionRequired : .notEncrypted) : .malformed("a frame")
        }
        var header = rest.dropFirst()
        let (length, type): (Int, UInt32)
        switch form {
        case .encrypted:
            guard header.count >= 2 else { return nil }
            length = Int(header[header.startIndex]) << 8 | Int(header[header.startIndex + 1])
            type = 0
            header = header.dropFirst(2)
        case .plain:
            guard let first = try Self.varint(&header) else { return nil }
            guard first <= UInt32(limit) else { throw .malformed("the length of a frame") }
            guard let second = try Self.varint(&header) else { return nil }
            (length, type) = (Int(first), second)
        }
        guard length <= limit else { throw .malformed("the length of a frame") }
        guard header.count >= length else { return nil }
        position = header.startIndex + length
        return Frame(type: type, payload: Array(header.prefix(length)))
    }

    /// Takes a varint of at most four bytes; nil if it is incomplete.
    private static func varint(_ bytes: inout ArraySlice<UInt8>) throws(ProxyError) -> UInt32? {
        var value: UInt32 = 0
        for (index, byte) in bytes.prefix(4).enumerated() {
            value |= UInt32(byte & 0x7F) << UInt32(7 * index)
            guard byte >= 0x80 else {
                bytes = bytes.dropFirst(index + 1)
                return value
            }
        }
        guard bytes.count < 4 else { throw .malformed("a varint of a frame") }
        return nil
    }

    /// Returns the bytes of a frame.
    static func bytes(of payload: [UInt8], type: UInt32, _ form: Form) -> [UInt8] {
        switch form {
        case .encrypted:
            return [1, UInt8(truncatingIfNeeded: payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
                + payload
        case .plain:
            var header: [UInt8] = [0]
            header.append(varint: UInt64(payload.count))
            header.append(varint: UInt64(type))
            return header + payload
        }
    }
}
