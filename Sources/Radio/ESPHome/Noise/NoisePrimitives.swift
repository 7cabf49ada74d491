internal import COpenSSL

/// The cryptographic functions of `Noise_NNpsk0_25519_ChaChaPoly_SHA256`, from libcrypto.
enum NoisePrimitives {
    /// The length of a hash, a key and a point of Curve25519.
    static let length = 32
    /// The length of the tag at the end of each ciphertext.
    static let tagLength = 16

    /// Fetched once: otherwise libcrypto searches its providers for each message. It is never changed or freed.
    nonisolated(unsafe) private static let cipher = EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil)

    /// Returns the SHA-256 hash of bytes.
    static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: length)
        _ = SHA256(bytes, bytes.count, &digest)
        return digest
    }

    /// Returns the HMAC-SHA-256 of bytes.
    static func authenticationCode(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: length)
        var count: UInt32 = 0
        _ = HMAC(EVP_sha256(), key, CInt(key.count), bytes, bytes.count, &code, &count)
        return code
    }

    /// The function `HKDF` of Noise.
    ///
    /// Source: The Noise Protocol Framework, revision 34, 4.3.
    static func derivedKeys(_ count: Int, chainingKey: [UInt8], from material: [UInt8]) -> [[UInt8]] {
        let temporary = authenticationCode(material, key: chainingKey)
        var keys: [[UInt8]] = []
        for number in 1...count {
            keys.append(authenticationCode((keys.last ?? []) + [UInt8(number)], key: temporary))
        }
        return keys
    }

    /// Encrypts with ChaCha20-Poly1305.
    ///
    /// - Returns: the ciphertext and its tag; nil if libcrypto fails.
    static func seal(_ plaintext: some Collection<UInt8>, key: [UInt8], nonce: UInt64, data: [UInt8]) -> [UInt8]? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let plaintext = Array(plaintext)
        var result = [UInt8](repeating: 0, count: plaintext.count + tagLength)
        var count: CInt = 0
        guard EVP_EncryptInit_ex(context, cipher, nil, key, bytes(of: nonce)) == 1,
            data.isEmpty || EVP_EncryptUpdate(context, nil, &count, data, CInt(data.count)) == 1,
            plaintext.isEmpty || EVP_EncryptUpdate(context, &result, &count, plaintext, CInt(plaintext.count)) == 1
        else { return nil }
        var tag = [UInt8](repeating: 0, count: tagLength)
        guard EVP_EncryptFinal_ex(context, &tag, &count) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(tagLength), &tag) == 1
        else { return nil }
        result.replaceSubrange(plaintext.count..., with: tag)
        return result
    }

    /// Decrypts with ChaCha20-Poly1305.
    ///
    /// - Returns: nil if the tag does not match, or if the bytes are too short for one.
    static func open(_ sealed: some Collection<UInt8>, key: [UInt8], nonce: UInt64, data: [UInt8]) -> [UInt8]? {
        guard sealed.count >= tagLength, let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let ciphertext = Array(sealed.dropLast(tagLength))
        var tag = Array(sealed.suffix(tagLength))
        var result = [UInt8](repeating: 0, count: ciphertext.count)
        var count: CInt = 0
        guard EVP_DecryptInit_ex(context, cipher, nil, key, bytes(of: nonce)) == 1,
            data.isEmpty || EVP_DecryptUpdate(context, nil, &count, data, CInt(data.count)) == 1,
            ciphertext.isEmpty || EVP_DecryptUpdate(context, &result, &count, ciphertext, CInt(ciphertext.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(tagLength), &tag) == 1
        else { return nil }
        var end = [UInt8](repeating: 0, count: tagLength)
        guard EVP_DecryptFinal_ex(context, &end, &count) == 1 else { return nil }
        return result
    }

    /// The nonce of a cipher: four zero bytes, then the counter in little-endian order.
    private static func bytes(of nonce: UInt64) -> [UInt8] {
        [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: nonce >> (8 * $0)) }
    }
}

/// A key pair of Curve25519 that is used for one handshake.
struct NoiseKeyPair: Sendable {
    private let secret: [UInt8]
    /// The public key, 32 bytes.
    let publicKey: [UInt8]

    /// Creates a pair from its secret key.
    ///
    /// - Returns: nil unless the key has 32 bytes.
    init?(secret: [UInt8]) {
        guard secret.count == NoisePrimitives.length,
            let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, secret, secret.count)
        else { return nil }
        defer { EVP_PKEY_free(key) }
        var point = [UInt8](repeating: 0, count: NoisePrimitives.length)
        var count = point.count
        guard EVP_PKEY_get_raw_public_key(key, &point, &count) == 1 else { return nil }
        self.secret = secret
        publicKey = point
    }

    /// Returns the secret that this pair shares with a public key.
    ///
    /// - Returns: nil for bytes that are no public key, and for the points whose result is zero.
    func sharedSecret(with publicKey: [UInt8]) -> [UInt8]? {
        guard let own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, secret, secret.count) else { return nil }
        defer { EVP_PKEY_free(own) }
        guard publicKey.count == NoisePrimitives.length,
            let other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, publicKey, publicKey.count)
        else { return nil }
        defer { EVP_PKEY_free(other) }
        guard let context = EVP_PKEY_CTX_new(own, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var shared = [UInt8](repeating: 0, count: NoisePrimitives.length)
        var count = shared.count
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, other) == 1,
            EVP_PKEY_derive(context, &shared, &count) == 1, count == shared.count
        else { return nil }
        return shared
    }
}
