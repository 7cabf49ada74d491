/// A vendor, product or module number: 32 bits, shown as four lower-case hex bytes with dashes, high byte first.
///
/// `4216824082` is `fb-57-a1-12`. Upper case is accepted when parsing.
/// Source: JacquardSDKiOS, `ComponentImplementation.swift`; protocol article, "Components and gear".
public struct JacquardIdentifier: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number as it is on the wire.
    public let rawValue: UInt32

    /// Takes any number; none is reserved.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Parses exactly four groups of two hex digits, joined by dashes.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.count == 4, groups.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
            return nil
        }
        guard let number = UInt32(groups.joined(), radix: 16) else { return nil }
        rawValue = number
    }

    /// The dashed form.
    public var description: String {
        stride(from: 24, through: 0, by: -8)
            // Two digits, also of a byte below 16.
            .map { String(0x100 | rawValue >> UInt32($0) & 0xFF, radix: 16).dropFirst() }
            .joined(separator: "-")
    }

    /// Google's vendor number.
    public static let google = JacquardIdentifier(rawValue: 0x1178_30C8)
    /// The product number of the tag itself.
    public static let tag = JacquardIdentifier(rawValue: 0x283B_E7A0)
}
