/// A 48-bit Bluetooth device address.
public struct BluetoothAddress: Hashable, Sendable, CustomStringConvertible {
    private let bits: UInt64

    /// Parses six groups of two hexadecimal digits separated by colons, in either case.
    ///
    /// - Returns: nil if the text has another format.
    public init?(_ text: some StringProtocol) {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        guard groups.count == 6, groups.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
            return nil
        }
        guard let bits = UInt64(groups.joined(), radix: 16) else { return nil }
        self.bits = bits
    }

    /// The address in upper case, such as `F0:00:00:00:00:01`.
    public var description: String {
        stride(from: 40, through: 0, by: -8)
            .map { shift in
                let byte = String(UInt8(truncatingIfNeeded: bits >> UInt64(shift)), radix: 16, uppercase: true)
                return byte.count == 1 ? "0" + byte : byte
            }
            .joined(separator: ":")
    }
}
