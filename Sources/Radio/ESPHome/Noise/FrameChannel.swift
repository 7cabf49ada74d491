/// The framing of one connection, of the client or of the proxy: the handshake, then messages in both directions.
///
/// A pure value: bytes are passed in and returned. After an error the connection must be closed.
public struct FrameChannel: Sendable {
    /// A message with its number.
    public struct Message: Hashable, Sendable {
        /// The number of its type.
        public let type: UInt32
        /// Its protobuf encoding.
        public let body: [UInt8]
    }

    private enum Phase {
        /// The proxy waits for the client's hello.
        case clientHello(NoiseKey, NoiseKeyPair, hello: [UInt8])
        /// The client waits for the proxy's hello.
        case serverHello(NoiseHandshake)
        /// The proxy waits for the first message of the handshake.
        case first(NoiseHandshake)
        /// The client waits for the second message of the handshake.
        case second(NoiseHandshake)
        case encrypted(sending: NoiseCipher, receiving: NoiseCipher)
        case plain
    }

    /// The largest frame of a handshake. The longest one of ESPHome has 65 bytes.
    static let handshakeLimit = 512
    /// Followed by length and content of the client's hello, which is empty.
    private static let prologue = Array("NoiseAPIInit".utf8)

    private var reader: FrameReader
    private var phase: Phase
    private var output: [UInt8] = []
    /// The name that the proxy sent before the handshake, in which it is not authenticated; nil if there was none.
    public private(set) var announcedName: String?

    /// Creates a client's channel without encryption.
    public static func plain() -> FrameChannel {
        FrameChannel(FrameReader(.plain), .plain)
    }

    /// Creates a client's encrypted channel.
    ///
    /// - Parameters:
    ///   - key: the key of the proxy.
    ///   - secret: 32 random bytes, used for this connection only.
    /// - Returns: nil if `secret` has another length.
    public static func client(key: NoiseKey, secret: [UInt8]) -> FrameChannel? {
        guard let pair = NoiseKeyPair(secret: secret) else { return nil }
        var handshake = NoiseHandshake(.initiator, key: key, prologue: prologue + [0, 0], ephemeral: pair)
        guard let first = try? handshake.writeFirst() else { return nil }
        var channel = FrameChannel(FrameReader(.encrypted), .serverHello(handshake))
        channel.output =
            FrameReader.bytes(of: [], type: 0, .encrypted) + FrameReader.bytes(of: [0] + first, type: 0, .encrypted)
        return channel
    }

    /// Creates a proxy's encrypted channel.
    ///
    /// - Parameters:
    ///   - key: the key of the proxy.
    ///   - secret: 32 random bytes, used for this connection only.
    ///   - name: the name of the proxy.
    ///   - address: its address, twelve hexadecimal digits.
    /// - Returns: nil if `secret` has another length.
    public static func server(key: NoiseKey, secret: [UInt8], name: String, address: String) -> FrameChannel? {
        guard let pair = NoiseKeyPair(secret: secret) else { return nil }
        let hello = [1] + Array(name.utf8) + [0] + Array(address.utf8) + [0]
        return FrameChannel(FrameReader(.encrypted), .clientHello(key, pair, hello: hello))
    }

    private init(_ reader: FrameReader, _ phase: Phase) {
        self.reader = reader
        self.phase = phase
        if case .plain = phase { return }
        self.reader.limit = Self.handshakeLimit
    }

    /// Whether messages can be sent.
    public var isOpen: Bool {
        switch phase {
        case .plain, .encrypted: true
        default: false
        }
    }

    /// Returns and removes the bytes to send.
    public mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Handles received bytes.
    ///
    /// - Returns: the messages that they complete.
    /// - Throws: ``ProxyError``. Send what ``takeOutput()`` returns, then close the connection.
    public mutating func receive(_ bytes: some Collection<UInt8>) throws(ProxyError) -> [Message] {
        reader.append(bytes)
        var messages: [Message] = []
        while let frame = try reader.next() {
            if let message = try handle(frame) { messages.append(message) }
        }
        return messages
    }

    /// Encodes a message. Its bytes are part of ``takeOutput()``.
    ///
    /// - Throws: ``ProxyError`` if the message is too long, or before the handshake has ended.
    public mutating func send(_ message: Message) throws(ProxyError) {
        switch phase {
        case .plain:
            guard message.body.count <= FrameReader.maximumLength else { throw .malformed("an own message") }
            output += FrameReader.bytes(of: message.body, type: message.type, .plain)
        case .encrypted:
            let length = message.body.count
            guard length <= FrameReader.maximumLength - 4 - NoisePrimitives.tagLength else {
                throw .malformed("an own message")
            }
            let header = [message.type >> 8, message.type, UInt32(length >> 8), UInt32(length)]
            let sealed = try sealed(header.map { UInt8(truncatingIfNeeded: $0) } + message.body)
            output += FrameReader.bytes(of: sealed, type: 0, .encrypted)
        default: throw .malformed("a message before the handshake")
        }
    }

    /// Encrypts bytes as the next message.
    mutating func sealed(_ plaintext: [UInt8]) throws(ProxyError) -> [UInt8] {
        guard case .encrypted(var sending, let receiving) = phase, let sealed = try? sending.encrypt(plaintext) else {
            throw .malformed("an own message")
        }
        phase = .encrypted(sending: sending, receiving: receiving)
        return sealed
    }

    private mutating func handle(_ frame: FrameReader.Frame) throws(ProxyError) -> Message? {
        switch phase {
        case .plain: return Message(type: frame.type, body: frame.payload)
        case .encrypted(let sending, var receiving):
            let message = try Self.decrypted(frame.payload, &receiving)
            phase = .encrypted(sending: sending, receiving: receiving)
            return message
        case .serverHello(let handshake): try serverHello(frame.payload, handshake)
        case .second(let handshake): try second(frame.payload, handshake)
        case .clientHello(let key, let pair, let hello):
            let prologue = Self.prologue + FrameReader.bytes(of: frame.payload, type: 0, .encrypted).dropFirst()
            output += FrameReader.bytes(of: hello, type: 0, .encrypted)
            phase = .first(NoiseHandshake(.responder, key: key, prologue: prologue, ephemeral: pair))
        case .first(let handshake): try first(frame.payload, handshake)
        }
        return nil
    }

    private static func decrypted(_ payload: [UInt8], _ cipher: inout NoiseCipher) throws(ProxyError) -> Message {
        let plaintext: [UInt8]
        do {
            plaintext = try cipher.decrypt(payload)
        } catch {
            throw .notAuthentic
        }
        guard plaintext.count >= 4 else { throw .malformed("an encrypted message") }
        let length = Int(plaintext[2]) << 8 | Int(plaintext[3])
        guard length <= plaintext.count - 4 else { throw .malformed("the length of an encrypted message") }
        return Message(
            type: UInt32(plaintext[0]) << 8 | UInt32(plaintext[1]), body: Array(plaintext[4..<(4 + length)]))
    }

    // MARK: The handshake of the client

    private mutating func serverHello(_ payload: [UInt8], _ handshake: NoiseHandshake) throws(ProxyError) {
        guard payload.first == 1 else { throw .malformed("the hello of the proxy") }
        let name = payload.dropFirst().prefix { $0 != 0 }
        announcedName = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        phase = .second(handshake)
    }

    private mutating func second(_ payload: [UInt8], _ handshake: NoiseHandshake) throws(ProxyError) {
        guard let status = payload.first else { throw .malformed("the handshake") }
        let content = payload.dropFirst()
        guard status == 0 else {
            let reason = String(decoding: content, as: UTF8.self)
            throw reason == Self.wrongKey ? .wrongKey : .handshakeRefused(reason)
        }
        var handshake = handshake
        do {
            _ = try handshake.readSecond(Array(content))
        } catch {
            throw error == .notAuthentic ? .wrongKey : .malformed("the handshake")
        }
        open(handshake)
    }

    // MARK: The handshake of the proxy

    private mutating func first(_ payload: [UInt8], _ handshake: NoiseHandshake) throws(ProxyError) {
        var handshake = handshake
        do {
            guard payload.first == 0 else { throw NoiseError.malformed }
            _ = try handshake.readFirst(Array(payload.dropFirst()))
            let second = try handshake.writeSecond()
            output += FrameReader.bytes(of: [0] + second, type: 0, .encrypted)
        } catch {
            let reason = error as? NoiseError == .notAuthentic ? Self.wrongKey : "Handshake error"
            output += FrameReader.bytes(of: [1] + Array(reason.utf8), type: 0, .encrypted)
            throw reason == Self.wrongKey ? .wrongKey : .malformed("the handshake")
        }
        open(handshake)
    }

    /// The reason that ESPHome sends if the client has another key.
    private static let wrongKey = "Handshake MAC failure"

    private mutating func open(_ handshake: NoiseHandshake) {
        let (sending, receiving) = handshake.split()
        phase = .encrypted(sending: sending, receiving: receiving)
        reader.limit = FrameReader.maximumLength
    }
}
