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
        bits.hexadecimal(groups: [2, 2, 2, 2, 2, 2], separator: ":", isUppercase: true)
    }
}

extension UInt64 {
    /// Returns the lowest digits of the number in hexadecimal, in groups of these lengths.
    func hexadecimal(groups: [Int], separator: Character, isUppercase: Bool = false) -> String {
        let digits = Array((isUppercase ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        var result: [UInt8] = []
        var position = groups.reduce(0, +)
        for (index, group) in groups.enumerated() {
            if index > 0 { result += Array(String(separator).utf8) }
            for _ in 0..<group {
                position -= 1
                result.append(digits[Int(self >> UInt64(4 * position) & 0xF)])
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
