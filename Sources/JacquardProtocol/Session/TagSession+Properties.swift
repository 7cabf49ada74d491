extension TagSession {
    /// What the command characteristic takes.
    public struct Properties: OptionSet, Hashable, Sendable {
        /// Bits of our own.
        public let rawValue: UInt8

        /// Takes the bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Write with response.
        public static let write = Properties(rawValue: 1)
        /// Write without response. Firmware below 1.43.0 takes nothing else.
        public static let writeWithoutResponse = Properties(rawValue: 2)
    }
}
