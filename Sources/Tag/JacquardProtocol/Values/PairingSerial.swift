/// The serial number by which people know a tag: the four characters that are printed on it, such as `003R`.
///
/// A tag advertises it as manufacturer data in a code of six bits a character, lowest bits first: `0`-`9` are 0 to 9,
/// `A`-`Z` 10 to 35, `a`-`z` 36 to 61, `-` is 62, and 63 ends the text. Source: JacquardSDKiOS, `AdvertisedTagModel`;
/// the SDKs' test advertisements; protocol article, "Serials".
public struct PairingSerial: Hashable, Sendable, CustomStringConvertible {
    /// Google's number among the companies of Bluetooth; `E0 00` on the air.
    public static let companyIdentifier: UInt16 = 0x00E0

    /// The text: at least one of `0-9A-Za-z-`. Real ones have four characters, the code allows any number.
    public let description: String

    /// Takes a serial number as a person writes it; case matters.
    ///
    /// - Returns: nil if it is empty or holds anything but `0-9A-Za-z-`.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy(Self.alphabet.contains) else { return nil }
        description = text
    }

    /// Takes a serial number, or the whole number that is printed on the tag: its last four characters before the last
    /// hyphen, such as `003R` in `0-07-9324FLHBK0003R-1903`.
    ///
    /// Source: protocol article, "Serials".
    ///
    /// - Returns: nil if it is empty or holds anything but `0-9A-Za-z-`.
    public init?(printed text: String) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.count > 1, let last = groups.last, !last.isEmpty,
            groups[groups.count - 2].utf8.count >= Self.printedLength
        else {
            self.init(text)
            return
        }
        guard PairingSerial(text) != nil else { return nil }
        self.init(String(groups[groups.count - 2].suffix(Self.printedLength)))
    }

    /// Decodes the manufacturer data of an advertisement: the bytes behind the company identifier, as BlueZ hands them
    /// over. Fails if there is no character before the end code.
    public init?(manufacturerData bytes: some Collection<UInt8>) {
        var characters: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount = 0
        scan: for byte in bytes {
            bits |= UInt32(byte) << UInt32(bitCount)
            bitCount += 8
            while bitCount >= 6 {
                let code = Int(bits & 0x3F)
                guard code != Self.endCode else { break scan }
                characters.append(Self.alphabet[code])
                bits >>= 6
                bitCount -= 6
            }
        }
        guard !characters.isEmpty else { return nil }
        description = String(decoding: characters, as: UTF8.self)
    }

    /// The manufacturer data of a tag of this number, behind the company identifier: its characters, one end code, zero bits.
    public var manufacturerData: [UInt8] {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount = 0
        for code in description.utf8.compactMap(Self.alphabet.firstIndex) + [Self.endCode] {
            bits |= UInt32(code) << UInt32(bitCount)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits >>= 8
            bitCount -= 8
        }
        if bitCount > 0 { bytes.append(UInt8(truncatingIfNeeded: bits)) }
        return bytes
    }

    /// The character of each code.
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-".utf8)
    private static let endCode = 63
    /// How many characters of the printed number are the serial.
    public static let printedLength = 4
}
