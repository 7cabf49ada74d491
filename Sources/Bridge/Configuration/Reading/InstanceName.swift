import Text

/// The rule for the bridge's name in topics. Source: the MQTT contract, `[a-z0-9-]{1,32}`.
enum InstanceName {
    /// In characters.
    static let lengthLimit = 32

    /// Whether the letter may stand in the name.
    static func isAllowed(_ byte: UInt8) -> Bool {
        ASCII.isLowercase(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-")
    }

    /// Makes a name of the host's: lower case, each run of other characters a hyphen, none at the ends, cut to 32.
    ///
    /// - Returns: `bridge` if nothing is left.
    static func derived(from hostName: String) -> String {
        let words = hostName.lowercased().utf8.split { !isAllowed($0) || $0 == UInt8(ascii: "-") }
        var name = words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-").prefix(lengthLimit)
        if name.hasSuffix("-") { name.removeLast() }
        return name.isEmpty ? "bridge" : String(name)
    }
}
