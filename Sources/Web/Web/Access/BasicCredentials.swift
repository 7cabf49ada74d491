/// The name and password of an `Authorization` header. Source: RFC 7617.
struct BasicCredentials: Hashable {
    let user: String
    let password: String

    /// Parses a header; nil if it is not of the scheme `Basic`, or not valid.
    init?(_ header: String) {
        let parts = header.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, String(Substring(parts[0])).lowercased() == "basic",
            let bytes = Self.decoded(parts[1].drop { $0 == UInt8(ascii: " ") }),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let user = String(validating: bytes[..<colon], as: UTF8.self),
            let password = String(validating: bytes[(colon + 1)...], as: UTF8.self)
        else { return nil }
        self.user = user
        self.password = password
    }

    /// Decodes base64 with its padding. Source: RFC 4648, section 4.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        var value: UInt32 = 0
        for (place, byte) in text.dropLast(padding).enumerated() {
            guard let digit = digit(byte) else { return nil }
            value = value << 6 | digit
            if place % 4 == 3 { bytes += [UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)] }
        }
        switch padding {
        case 1: bytes += [UInt8(value >> 10 & 255), UInt8(value >> 2 & 255)]
        case 2: bytes.append(UInt8(value >> 4 & 255))
        default: break
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

/// The passwords of users that were found to be right, so that a program that reads every few seconds does not have each
/// of its requests hashed.
///
/// Contains a hash with a random key of this process instead of the password.
struct VerifiedPasswords {
    private var digests: [String: Int] = [:]

    /// Whether the password of a user is the one that was found to be right.
    func contains(_ credentials: BasicCredentials) -> Bool {
        digests[credentials.user] == Self.digest(credentials)
    }

    /// Stores a right password of a user who exists.
    mutating func insert(_ credentials: BasicCredentials) {
        digests[credentials.user] = Self.digest(credentials)
    }

    private static func digest(_ credentials: BasicCredentials) -> Int {
        var hasher = Hasher()
        hasher.combine(Array(credentials.user.utf8))
        hasher.combine(Array(credentials.password.utf8))
        return hasher.finalize()
    }
}
