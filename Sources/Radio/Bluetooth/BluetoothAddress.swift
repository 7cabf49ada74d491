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

    /// Creates an address from a number of 48 bits. The higher bits are ignored.
    public init(number: UInt64) {
        bits = number & 0xFFFF_FFFF_FFFF
    }

    /// The address as a number of 48 bits.
    public var number: UInt64 { bits }

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

/// A 128-bit UUID of a service or characteristic.
public struct BluetoothUUID: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes of the text form.
    public let high: UInt64
    /// The last eight bytes of the text form.
    public let low: UInt64

    /// Creates a UUID from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses the form with four dashes, in either case.
    ///
    /// - Returns: nil if the text has another format.
    public init?(_ text: some StringProtocol) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        guard groups.allSatisfy({ $0.allSatisfy(\.isHexDigit) }) else { return nil }
        guard
            let high = UInt64(groups[0...2].joined(), radix: 16),
            let low = UInt64(groups[3...4].joined(), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }

    /// The UUID in lower case, with dashes.
    public var description: String {
        high.hexadecimal(groups: [8, 4, 4], separator: "-") + "-" + low.hexadecimal(groups: [4, 12], separator: "-")
    }
}
