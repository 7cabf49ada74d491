/// The address of a device, 48 bits.
public struct BluetoothAddress: Hashable, Sendable, CustomStringConvertible {
    private let bits: UInt64

    /// Parses six groups of two hex digits, joined by colons; either case.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        guard groups.count == 6, groups.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
            return nil
        }
        guard let bits = UInt64(groups.joined(), radix: 16) else { return nil }
        self.bits = bits
    }

    /// `F0:00:00:00:00:01`.
    public var description: String {
        stride(from: 40, through: 0, by: -8)
            .map { shift in
                let byte = String(UInt8(truncatingIfNeeded: bits >> UInt64(shift)), radix: 16, uppercase: true)
                return byte.count == 1 ? "0" + byte : byte
            }
            .joined(separator: ":")
    }
}
