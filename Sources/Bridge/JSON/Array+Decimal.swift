extension [UInt8] {
    /// Appends a number in decimal digits, with zeros before it up to so many digits; a negative one counts as 0.
    mutating func append(decimal number: Int64, digits: Int) {
        append(decimal: UInt64(clamping: number), digits: digits)
    }

    /// Appends a number in decimal digits, with zeros before it up to so many digits.
    mutating func append(decimal number: UInt64, digits: Int = 1) {
        let start = count
        var rest = number
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0 || count - start < digits
        self[start...].reverse()
    }
}
