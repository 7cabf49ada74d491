extension [UInt8] {
    /// Bytes as the protocol article writes them: two hex digits each, with any white space between them.
    init(hex: String) {
        self = hex.split(whereSeparator: \.isWhitespace).map { digits in
            guard digits.utf8.count == 2, let byte = UInt8(digits, radix: 16) else {
                preconditionFailure("\(digits) is no byte")
            }
            return byte
        }
    }
}
