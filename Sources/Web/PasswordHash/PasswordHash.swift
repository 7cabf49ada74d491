internal import CCrypt
internal import Glibc

/// Password hashes of crypt(3), in the form of `/etc/shadow`.
public enum PasswordHash {
    /// The longest password that is accepted, in bytes of UTF-8.
    public static let longestPassword = 512

    /// Returns a yescrypt hash with a random salt, or nil if the system's libcrypt cannot make one.
    ///
    /// Takes some 50 ms of CPU: don't call it on the event loop.
    public static func make(_ password: String) -> String? {
        // `$y$` is yescrypt; 0 chooses the default cost.
        guard let setting = crypt_gensalt_ra("$y$", 0, nil, 0) else { return nil }
        defer { free(setting) }
        return hash(password, String(cString: setting))
    }

    /// Whether a password belongs to a hash. Takes as long as ``make(_:)``.
    public static func matches(_ password: String, _ expected: String) -> Bool {
        guard let actual = hash(password, expected) else { return false }
        return isEqual(actual, expected)
    }

    /// Whether a text can be a hash that this system supports.
    public static func isValid(_ text: String) -> Bool {
        let status = crypt_checksalt(text)
        return text.hasPrefix("$") && (status == CRYPT_SALT_OK || status == CRYPT_SALT_TOO_CHEAP)
            && text.utf8.allSatisfy { (33...126).contains($0) && $0 != UInt8(ascii: ":") }
    }

    /// Compares two texts in a time that depends on their lengths only.
    public static func isEqual(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return zip(one.utf8, other.utf8).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
    }

    private static func hash(_ password: String, _ setting: String) -> String? {
        guard !password.utf8.contains(0) else { return nil }
        var memory: UnsafeMutableRawPointer?
        var size: CInt = 0
        // The library allocates its work area; it contains the password.
        defer {
            if let memory { explicit_bzero(memory, Int(size)) }
            free(memory)
        }
        guard let text = crypt_ra(password, setting, &memory, &size) else { return nil }
        let result = String(cString: text)
        return result.hasPrefix("*") ? nil : result
    }
}
