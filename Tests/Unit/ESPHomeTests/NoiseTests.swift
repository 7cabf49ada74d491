import Testing

@testable import ESPHome

/// The handshake against the vectors of other implementations.
@Suite("Noise")
struct NoiseTests {
    /// The vector of this protocol in `tests/vectors/cacophony.txt` of https://github.com/mcginty/snow, made with the
    /// Haskell library cacophony.
    private enum Vector {
        static let prologue = "4a6f686e2047616c74".bytes
        static let key = "54686973206973206d7920417573747269616e20706572737065637469766521".bytes
        static let initiator = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a".bytes
        static let responder = "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b".bytes
        static let hash = "f4d03dc34495c95729ea6de9e1b59004b59733102488b3e24bc441e0be208eaf".bytes
        /// Payload and ciphertext, in turn of the initiator and of the responder.
        static let messages: [(payload: [UInt8], ciphertext: [UInt8])] = [
            (
                "4c756477696720766f6e204d69736573".bytes,
                ("ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
                    + "79b962b8aff8485742ac32f905ba45369e2465fb59e138a93d67a0d1266b6a54").bytes
            ),
            (
                "4d757272617920526f746862617264".bytes,
                ("95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
                    + "d6062704d5a9c422a8e834423f8c1feada7e8d0d910a1a2cd030fb584221e3").bytes
            ),
            ("462e20412e20486179656b".bytes, "e632c3763d7669067383433197a3baddf146e9e70ad4b4e9e59e0f".bytes),
            ("4361726c204d656e676572".bytes, "64c6bee32ea91c8474bb4c21d7a700109ad45af77b29764ba5eb1e".bytes),
            (
                "4a65616e2d426170746973746520536179".bytes,
                "e2fa0bed0603b62d3ccac2ecabbf3fe33f3e86514909b323361626266cb2471cc8".bytes
            ),
            (
                "457567656e2042f6686d20766f6e2042617765726b".bytes,
                "0c01dc9cec1fe4ddd692e8dd32188aa351088dc91183639a53b57aa4692b5ebdef8b8ca111".bytes
            ),
        ]
    }

    private func sides() throws -> (NoiseHandshake, NoiseHandshake) {
        let key = try #require(NoiseKey(Vector.key))
        let initiator = try #require(NoiseKeyPair(secret: Vector.initiator))
        let responder = try #require(NoiseKeyPair(secret: Vector.responder))
        return (
            NoiseHandshake(.initiator, key: key, prologue: Vector.prologue, ephemeral: initiator),
            NoiseHandshake(.responder, key: key, prologue: Vector.prologue, ephemeral: responder)
        )
    }

    @Test("the published vector of the protocol is reproduced by both sides")
    func vector() throws {
        var (client, server) = try sides()
        #expect(try client.writeFirst(payload: Vector.messages[0].payload) == Vector.messages[0].ciphertext)
        #expect(try server.readFirst(Vector.messages[0].ciphertext) == Vector.messages[0].payload)
        #expect(try server.writeSecond(payload: Vector.messages[1].payload) == Vector.messages[1].ciphertext)
        #expect(try client.readSecond(Vector.messages[1].ciphertext) == Vector.messages[1].payload)
        #expect(client.handshakeHash == Vector.hash)
        #expect(server.handshakeHash == Vector.hash)
        var (fromClient, toClient) = client.split()
        var (fromServer, toServer) = server.split()
        for (index, message) in Vector.messages.dropFirst(2).enumerated() {
            if index.isMultiple(of: 2) {
                #expect(try fromClient.encrypt(message.payload) == message.ciphertext)
                #expect(try toServer.decrypt(message.ciphertext) == message.payload)
            } else {
                #expect(try fromServer.encrypt(message.payload) == message.ciphertext)
                #expect(try toClient.decrypt(message.ciphertext) == message.payload)
            }
        }
    }

    @Test("a first message is refused if one of its bytes is changed or missing, or if the prologue or the key differs")
    func refusedFirst() throws {
        let good = Vector.messages[0].ciphertext
        for index in good.indices {
            var (_, server) = try sides()
            var bad = good
            bad[index] ^= 1
            #expect(throws: NoiseError.notAuthentic) { try server.readFirst(bad) }
        }
        for length in [0, 31, 32, 47] {
            var (_, server) = try sides()
            #expect(throws: NoiseError.malformed) { try server.readFirst(Array(good.prefix(length))) }
        }
        let pair = try #require(NoiseKeyPair(secret: Vector.responder))
        let key = try #require(NoiseKey(Vector.key))
        let other = try #require(NoiseKey(Vector.key.map { $0 ^ 1 }))
        var otherPrologue = NoiseHandshake(.responder, key: key, prologue: [], ephemeral: pair)
        #expect(throws: NoiseError.notAuthentic) { try otherPrologue.readFirst(good) }
        var otherKey = NoiseHandshake(.responder, key: other, prologue: Vector.prologue, ephemeral: pair)
        #expect(throws: NoiseError.notAuthentic) { try otherKey.readFirst(good) }
    }

    @Test("a second message with a public key of low order is refused")
    func lowOrder() throws {
        for point in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            var (client, _) = try sides()
            _ = try client.writeFirst()
            #expect(throws: NoiseError.malformed) { try client.readSecond(point + [UInt8](repeating: 0, count: 16)) }
        }
    }

    @Test("a message is refused if it is repeated, skipped, truncated or changed, and the next good one is read")
    func transport() throws {
        var sending = NoiseCipher(key: Vector.key)
        var receiving = NoiseCipher(key: Vector.key)
        let messages = try (0..<3).map { try sending.encrypt([UInt8($0)]) }
        #expect(try receiving.decrypt(messages[0]) == [0])
        #expect(throws: NoiseError.notAuthentic) { try receiving.decrypt(messages[0]) }
        #expect(throws: NoiseError.notAuthentic) { try receiving.decrypt(messages[2]) }
        #expect(throws: NoiseError.notAuthentic) { try receiving.decrypt(messages[1].dropLast()) }
        #expect(throws: NoiseError.notAuthentic) { try receiving.decrypt([UInt8]()) }
        for index in messages[1].indices {
            var bad = messages[1]
            bad[index] ^= 0x80
            #expect(throws: NoiseError.notAuthentic) { try receiving.decrypt(bad) }
        }
        #expect(try receiving.decrypt(messages[1]) == [1])
    }

    @Test("a key is 32 bytes in base64, with white space around it")
    func keys() throws {
        let text = "VGhpcyBpcyBteSBBdXN0cmlhbiBwZXJzcGVjdGl2ZSE="
        #expect(try #require(NoiseKey(base64: " \(text)\n")).bytes == Vector.key)
        let high = try #require(NoiseKey(base64: "/+" + String(repeating: "/", count: 40) + "8="))
        #expect(high.bytes.prefix(3) == [0xFF, 0xEF, 0xFF])
        for bad in ["", text + "=", String(text.dropLast()), text.replacing("V", with: "-"), text + text] {
            #expect(NoiseKey(base64: bad) == nil, "\(bad)")
        }
        #expect(NoiseKey([1, 2, 3]) == nil)
    }

    @Test("a key has no text, so that no log or failure message contains it")
    func keyText() throws {
        let key = try #require(NoiseKey(Vector.key))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped, "\(Optional(key) as Any)"] {
            #expect(!text.contains("84") && !text.contains("VGhp"), "\(text)")
        }
    }
}

extension String {
    /// The bytes of hexadecimal digits.
    var bytes: [UInt8] {
        let digits = Array(utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
        }
    }
}

extension [UInt8] {
    /// Hexadecimal digits.
    var hexadecimal: String {
        map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }.joined()
    }
}
