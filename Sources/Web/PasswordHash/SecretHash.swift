internal import COpenSSL

/// Hashes of random secrets, which nobody can guess: unlike those of passwords they need not be slow.
public enum SecretHash {
    /// The SHA-256 of a secret.
    ///
    /// - Parameter secret: at least 128 random bits, as text.
    /// - Returns: 64 hexadecimal digits.
    public static func of(_ secret: String) -> String {
        let bytes = Array(secret.utf8)
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = SHA256(bytes, bytes.count, &digest)
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
