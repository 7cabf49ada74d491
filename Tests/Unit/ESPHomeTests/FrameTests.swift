import Testing

@testable import ESPHome

@Suite("Frames")
struct FrameTests {
    @Test("frames are found wherever the bytes are cut", arguments: [FrameReader.Form.plain, .encrypted])
    func cutting(form: FrameReader.Form) throws {
        let payloads = [[], [1], [UInt8](repeating: 7, count: 300)]
        let types: [UInt32] = form == .plain ? [7, 130, 93] : [0, 0, 0]
        let frames = zip(payloads, types).map { FrameReader.Frame(type: $1, payload: $0) }
        let bytes = frames.flatMap { FrameReader.bytes(of: $0.payload, type: $0.type, form) }
        for cut in 0...bytes.count {
            var reader = FrameReader(form)
            var found: [FrameReader.Frame] = []
            for part in [bytes.prefix(cut), bytes.dropFirst(cut)] {
                reader.append(part)
                while let frame = try reader.next() { found.append(frame) }
            }
            #expect(found == frames)
            #expect(reader.pendingCount == 0)
        }
    }

    @Test("bytes of the other form are recognized")
    func otherForm() {
        var plain = FrameReader(.plain)
        plain.append([1, 0, 0])
        #expect(throws: ProxyError.encryptionRequired) { try plain.next() }
        var encrypted = FrameReader(.encrypted)
        encrypted.append([0, 0, 7])
        #expect(throws: ProxyError.notEncrypted) { try encrypted.next() }
        for form in [FrameReader.Form.plain, .encrypted] {
            var reader = FrameReader(form)
            reader.append(Array("HTTP/1.1".utf8))
            #expect(throws: ProxyError.malformed("a frame")) { try reader.next() }
        }
    }

    @Test("a frame above the limit is refused before its content arrives")
    func limits() throws {
        var long = FrameReader(.plain)
        long.append([0, 0xFF, 0xFF, 0x03, 7])
        #expect(try long.next() == nil)
        var tooLong = FrameReader(.plain)
        tooLong.append([0, 0x80, 0x80, 0x04])
        #expect(throws: ProxyError.malformed("the length of a frame")) { try tooLong.next() }
        var endless = FrameReader(.plain)
        endless.append([0, 0x80, 0x80, 0x80, 0x80])
        #expect(throws: ProxyError.malformed("a varint of a frame")) { try endless.next() }
        var handshake = FrameReader(.encrypted)
        handshake.limit = 512
        handshake.append([1, 2, 1])
        #expect(throws: ProxyError.malformed("the length of a frame")) { try handshake.next() }
    }
}

/// Both ends of a channel, in memory.
struct ChannelPair {
    static let key = NoiseKey([UInt8](repeating: 7, count: 32))
    var client: FrameChannel
    var server: FrameChannel

    init(serverKey: NoiseKey? = ChannelPair.key) throws {
        let key = try #require(Self.key)
        client = try #require(FrameChannel.client(key: key, secret: [UInt8](repeating: 1, count: 32)))
        let serverKey = try #require(serverKey)
        server = try #require(
            FrameChannel.server(
                key: serverKey, secret: [UInt8](repeating: 2, count: 32), name: "loft",
                address: "AABBCCDDEEFF"))
    }

    /// Exchanges the handshake.
    mutating func open() throws {
        _ = try server.receive(client.takeOutput())
        _ = try client.receive(server.takeOutput())
    }
}

@Suite("An encrypted channel")
struct FrameChannelTests {
    private let ping = ProxyMessage.ping.frame

    @Test("opens with one exchange, knows the proxy's name, and carries messages both ways")
    func opening() throws {
        var pair = try ChannelPair()
        #expect(!pair.client.isOpen && !pair.server.isOpen)
        try pair.open()
        #expect(pair.client.isOpen && pair.server.isOpen)
        #expect(pair.client.announcedName == "loft")
        try pair.client.send(ping)
        try pair.client.send(ProxyMessage.deviceInfo.frame)
        #expect(try pair.server.receive(pair.client.takeOutput()).map(\.type) == [7, 9])
        let long = FrameChannel.Message(type: 93, body: [UInt8](repeating: 3, count: 65_515))
        try pair.server.send(long)
        #expect(try pair.client.receive(pair.server.takeOutput()) == [long])
        #expect(throws: ProxyError.malformed("an own message")) {
            try pair.client.send(FrameChannel.Message(type: 1, body: [UInt8](repeating: 3, count: 65_516)))
        }
    }

    @Test("opens if each byte arrives alone")
    func byteByByte() throws {
        var pair = try ChannelPair()
        for byte in pair.client.takeOutput() { _ = try pair.server.receive([byte]) }
        for byte in pair.server.takeOutput() { _ = try pair.client.receive([byte]) }
        #expect(pair.client.isOpen)
    }

    @Test("another key is refused by the proxy, and the client learns why")
    func wrongKey() throws {
        var pair = try ChannelPair(serverKey: NoiseKey([UInt8](repeating: 8, count: 32)))
        let hello = pair.client.takeOutput()
        #expect(throws: ProxyError.wrongKey) { try pair.server.receive(hello) }
        let answer = pair.server.takeOutput()
        #expect(throws: ProxyError.wrongKey) { try pair.client.receive(answer) }
        #expect(!pair.client.isOpen)
    }

    @Test("a proxy that pretends to have the key is refused")
    func impostor() throws {
        var pair = try ChannelPair()
        _ = try pair.server.receive(pair.client.takeOutput())
        var answer = pair.server.takeOutput()
        answer[answer.count - 1] ^= 1
        #expect(throws: ProxyError.wrongKey) { try pair.client.receive(answer) }
    }

    @Test("a refused handshake names the proxy's reason")
    func refusal() throws {
        var pair = try ChannelPair()
        let hello = FrameReader.bytes(of: [1], type: 0, .encrypted)
        let refusal = FrameReader.bytes(of: [1] + Array("Bad indicator byte".utf8), type: 0, .encrypted)
        #expect(throws: ProxyError.handshakeRefused("Bad indicator byte")) { try pair.client.receive(hello + refusal) }
    }

    @Test("a frame that is repeated, changed or missing ends the connection")
    func replay() throws {
        var opened = try ChannelPair()
        try opened.open()
        try opened.server.send(ping)
        let first = opened.server.takeOutput()
        try opened.server.send(ping)
        let second = opened.server.takeOutput()
        var (repeated, changed, missing) = (opened.client, opened.client, opened.client)
        _ = try repeated.receive(first)
        #expect(throws: ProxyError.notAuthentic) { try repeated.receive(first) }
        var bad = first
        bad[bad.count - 1] ^= 1
        #expect(throws: ProxyError.notAuthentic) { try changed.receive(bad) }
        #expect(throws: ProxyError.notAuthentic) { try missing.receive(second) }
        var empty = opened.client
        #expect(throws: ProxyError.notAuthentic) { try empty.receive(FrameReader.bytes(of: [], type: 0, .encrypted)) }
    }

    @Test("a message whose length exceeds its content ends the connection")
    func lengths() throws {
        for plaintext in [[0, 7], [0, 7, 0, 1], [0, 7, 1, 0, 5]] as [[UInt8]] {
            var pair = try ChannelPair()
            try pair.open()
            #expect(throws: ProxyError.self) { try pair.sendRaw(plaintext) }
        }
    }

    @Test("nothing can be sent before the handshake, and a handshake's frame is short")
    func before() throws {
        var pair = try ChannelPair()
        #expect(throws: ProxyError.malformed("a message before the handshake")) { try pair.client.send(ping) }
        #expect(throws: ProxyError.malformed("the length of a frame")) { try pair.client.receive([1, 2, 1]) }
        let key = try #require(ChannelPair.key)
        #expect(FrameChannel.client(key: key, secret: [1]) == nil)
    }
}

extension ChannelPair {
    /// Passes a plaintext to the client that the server encrypts as it is.
    fileprivate mutating func sendRaw(_ plaintext: [UInt8]) throws {
        let sealed = try server.sealed(plaintext)
        _ = try client.receive(FrameReader.bytes(of: sealed, type: 0, .encrypted))
    }
}
