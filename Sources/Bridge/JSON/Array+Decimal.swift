extension [UInt8] {
    /// Appends a number in decimal, padded with zeros to `digits`. A negative number is written as 0.
    mutating func append(decimal number: Int64, digits: Int) {
        append(decimal: UInt64(clamping: number), digits: digits)
    }

    /// Appends a number in decimal, padded with zeros to `digits`, at most 20.
    mutating func append(decimal number: UInt64, digits: Int = 1) {
        var places = 1
        var divisor: UInt64 = 1
        while places < digits || number / divisor >= 10 {
            places += 1
            divisor *= 10
        }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}
