/// The key of an encrypted proxy: 32 bytes, written in base64. It has no description, so that no log can contain it.
public struct NoiseKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    /// Creates a key from 32 bytes.
    ///
    /// - Returns: nil for another number of bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == NoisePrimitives.length else { return nil }
        self.bytes = bytes
    }

    /// Parses the text of a key file: 44 characters of base64, with white space around them.
    ///
    /// - Returns: nil if the text is anything else.
    public init?(base64 text: some StringProtocol) {
        let characters = text.utf8.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
        guard characters.count == 44, characters.last == UInt8(ascii: "=") else { return nil }
        var bytes: [UInt8] = []
        var (bits, count): (UInt32, Int) = (0, 0)
        for character in characters.dropLast() {
            guard let value = Self.value(of: character) else { return nil }
            bits = (bits << 6 | value) & 0xFFF
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        self.init(bytes)
    }

    /// Always the same text.
    public var description: String { "(a key)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
