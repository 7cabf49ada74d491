/// The state of one direction after the handshake: a key and the counter of its messages.
///
/// Source: The Noise Protocol Framework, revision 34, 5.1.
struct NoiseCipher: Sendable {
    private let key: [UInt8]
    private var counter: UInt64 = 0

    init(key: [UInt8]) {
        self.key = key
    }

    /// Encrypts the next message.
    ///
    /// - Throws: ``NoiseError/exhausted`` after 2^64 - 1 messages.
    mutating func encrypt(_ plaintext: some Collection<UInt8>, data: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        guard counter < .max, let sealed = NoisePrimitives.seal(plaintext, key: key, nonce: counter, data: data) else {
            throw .exhausted
        }
        counter += 1
        return sealed
    }

    /// Decrypts the next message.
    ///
    /// - Throws: ``NoiseError/notAuthentic`` for a message that is changed, repeated, missing or in the wrong order.
    mutating func decrypt(_ sealed: some Collection<UInt8>, data: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        guard counter < .max else { throw .exhausted }
        guard let plaintext = NoisePrimitives.open(sealed, key: key, nonce: counter, data: data) else {
            throw .notAuthentic
        }
        counter += 1
        return plaintext
    }
}

/// Why a handshake or a message failed.
enum NoiseError: Error, Hashable, Sendable {
    /// The message was not made with the same key.
    case notAuthentic
    /// The message is too short, or its public key is not acceptable.
    case malformed
    /// No more messages may be encrypted with this key.
    case exhausted
}

/// The handshake `Noise_NNpsk0_25519_ChaChaPoly_SHA256`: two messages, from the initiator and from the responder.
///
/// Source: The Noise Protocol Framework, revision 34, 5.2, 5.3 and 9.
struct NoiseHandshake: Sendable {
    /// The sides of a handshake.
    enum Role: Sendable {
        case initiator
        case responder
    }

    private static let name = "Noise_NNpsk0_25519_ChaChaPoly_SHA256"

    private let role: Role
    private let key: NoiseKey
    private let ephemeral: NoiseKeyPair
    private var hash: [UInt8]
    private var chainingKey: [UInt8]
    private var cipher: NoiseCipher?
    private var remote: [UInt8] = []

    /// Begins a handshake.
    ///
    /// - Parameters:
    ///   - role: the own side.
    ///   - key: the key that both sides know.
    ///   - prologue: bytes that must be equal on both sides.
    ///   - ephemeral: a new key pair.
    init(_ role: Role, key: NoiseKey, prologue: [UInt8], ephemeral: NoiseKeyPair) {
        self.role = role
        self.key = key
        self.ephemeral = ephemeral
        // The name is longer than a hash, so it is hashed.
        hash = NoisePrimitives.hash(Array(Self.name.utf8))
        chainingKey = hash
        mixHash(prologue)
    }

    /// The hash of the whole handshake, which both sides can compare.
    var handshakeHash: [UInt8] { hash }

    /// Writes the first message, as the initiator.
    mutating func writeFirst(payload: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        mixSharedKey()
        mixPublicKey(ephemeral.publicKey)
        return ephemeral.publicKey + (try encryptAndHash(payload))
    }

    /// Reads the first message, as the responder, and returns its payload.
    mutating func readFirst(_ message: [UInt8]) throws(NoiseError) -> [UInt8] {
        mixSharedKey()
        let payload = try takePublicKey(of: message)
        return try decryptAndHash(payload)
    }

    /// Writes the second message, as the responder.
    mutating func writeSecond(payload: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        mixPublicKey(ephemeral.publicKey)
        try mixSharedSecret()
        return ephemeral.publicKey + (try encryptAndHash(payload))
    }

    /// Reads the second message, as the initiator, and returns its payload.
    mutating func readSecond(_ message: [UInt8]) throws(NoiseError) -> [UInt8] {
        let payload = try takePublicKey(of: message)
        try mixSharedSecret()
        return try decryptAndHash(payload)
    }

    /// Returns the ciphers of both directions, after the second message.
    func split() -> (sending: NoiseCipher, receiving: NoiseCipher) {
        let keys = NoisePrimitives.derivedKeys(2, chainingKey: chainingKey, from: [])
        let (first, second) = (NoiseCipher(key: keys[0]), NoiseCipher(key: keys[1]))
        return role == .initiator ? (first, second) : (second, first)
    }

    // MARK: The symmetric state

    private mutating func mixHash(_ bytes: some Collection<UInt8>) {
        hash = NoisePrimitives.hash(hash + Array(bytes))
    }

    private mutating func mixKey(_ material: [UInt8]) {
        let keys = NoisePrimitives.derivedKeys(2, chainingKey: chainingKey, from: material)
        chainingKey = keys[0]
        cipher = NoiseCipher(key: keys[1])
    }

    /// The token `psk`.
    private mutating func mixSharedKey() {
        let keys = NoisePrimitives.derivedKeys(3, chainingKey: chainingKey, from: key.bytes)
        chainingKey = keys[0]
        mixHash(keys[1])
        cipher = NoiseCipher(key: keys[2])
    }

    /// The token `e`, which with a shared key is also mixed into the chaining key.
    private mutating func mixPublicKey(_ publicKey: [UInt8]) {
        mixHash(publicKey)
        mixKey(publicKey)
    }

    /// The token `ee`.
    private mutating func mixSharedSecret() throws(NoiseError) {
        guard let secret = ephemeral.sharedSecret(with: remote) else { throw .malformed }
        mixKey(secret)
    }

    private mutating func takePublicKey(of message: [UInt8]) throws(NoiseError) -> ArraySlice<UInt8> {
        guard message.count >= NoisePrimitives.length + NoisePrimitives.tagLength else { throw .malformed }
        remote = Array(message.prefix(NoisePrimitives.length))
        mixPublicKey(remote)
        return message.dropFirst(NoisePrimitives.length)
    }

    private mutating func encryptAndHash(_ plaintext: [UInt8]) throws(NoiseError) -> [UInt8] {
        guard let sealed = try cipher?.encrypt(plaintext, data: hash) else { throw .malformed }
        mixHash(sealed)
        return sealed
    }

    private mutating func decryptAndHash(_ sealed: ArraySlice<UInt8>) throws(NoiseError) -> [UInt8] {
        guard let plaintext = try cipher?.decrypt(sealed, data: hash) else { throw .malformed }
        mixHash(sealed)
        return plaintext
    }
}
