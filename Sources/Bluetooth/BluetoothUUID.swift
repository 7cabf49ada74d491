/// A 128-bit UUID of a service or characteristic.
public struct BluetoothUUID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

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
