import Text

/// The name of a device, which its owner chooses.
enum DeviceName {
    /// What it may be.
    static let allowed = "1 to 32 bytes of UTF-8 without control characters, not only spaces"

    /// Whether a text is one.
    static func isAllowed(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && text.contains { !$0.isWhitespace }
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}

/// The key of a one-time link: random digits, and for a device its name behind a colon.
enum LinkKey {
    /// A new key.
    static func make(device: String?) -> String { Secrets.random() + (device.map { ":\($0)" } ?? "") }

    /// The device of a key that is right; nil if it has none.
    static func device(of key: String) -> String? {
        let parts = key.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[1]) : nil
    }

    /// A key as the part of a link: everything but letters and digits is written with percent signs.
    static func encoded(_ key: String) -> String {
        key.utf8.map { byte in
            ASCII.isAlphanumeric(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
