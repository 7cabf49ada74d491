extension Duration {
    /// Whole microseconds, rounded towards zero; more than `Int64` holds counts as its limit.
    public var microseconds: Int64 { whole(perSecond: 1_000_000) }

    /// Whole milliseconds, rounded towards zero; more than `Int64` holds counts as its limit.
    public var milliseconds: Int64 { whole(perSecond: 1_000) }

    // One division; ``components`` takes two.
    private func whole(perSecond units: Int128) -> Int64 {
        Int64(clamping: attoseconds / (1_000_000_000_000_000_000 / units))
    }
}
