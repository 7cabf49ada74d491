/// A 48-bit Bluetooth device address.
public struct BluetoothAddress: Hashable, Sendable, CustomStringConvertible {
    private let bits: UInt64

    /// Parses six groups of two hexadecimal digits separated by colons, in either case.
    ///
    /// - Returns: nil if the text has another format.
    public init?(_ text: some StringProtocol) {
        var digits = HexadecimalGroups(text.utf8, separator: UInt8(ascii: ":"))
        guard let bits = digits.number([2, 2, 2, 2, 2, 2]), digits.isAtEnd else { return nil }
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

/// Reads numbers in hexadecimal, in either case, from groups of digits with separators between them.
///
/// Each device, service and characteristic that BlueZ lists has a UUID: the bytes are read once, without strings in between.
struct HexadecimalGroups<Bytes: Sequence<UInt8>> {
    private var bytes: Bytes.Iterator
    private let separator: UInt8
    private var isFirst = true

    init(_ bytes: Bytes, separator: UInt8) {
        self.bytes = bytes.makeIterator()
        self.separator = separator
    }

    /// Reads groups of these lengths; 16 digits at most.
    ///
    /// - Returns: the number with all digits; nil if the text has another format.
    mutating func number(_ lengths: [Int]) -> UInt64? {
        var number: UInt64 = 0
        for length in lengths {
            if !isFirst {
                guard bytes.next() == separator else { return nil }
            }
            isFirst = false
            for _ in 0..<length {
                guard let byte = bytes.next(), let digit = Self.value(of: byte) else { return nil }
                number = number << 4 | digit
            }
        }
        return number
    }

    /// Whether nothing is left.
    var isAtEnd: Bool {
        mutating get { bytes.next() == nil }
    }

    private static func value(of digit: UInt8) -> UInt64? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(digit - UInt8(ascii: "A") + 10)
        default: nil
        }
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
        var digits = HexadecimalGroups(text.utf8, separator: UInt8(ascii: "-"))
        guard let high = digits.number([8, 4, 4]), let low = digits.number([4, 12]), digits.isAtEnd else { return nil }
        self.high = high
        self.low = low
    }

    /// The UUID in lower case, with dashes.
    public var description: String {
        high.hexadecimal(groups: [8, 4, 4], separator: "-") + "-" + low.hexadecimal(groups: [4, 12], separator: "-")
    }
}
