extension Duration {
    /// Whole microseconds, rounded towards zero; more than `Int64` holds counts as its limit.
    public var microseconds: Int64 { whole(perSecond: 1_000_000) }

    /// Whole milliseconds, rounded towards zero; more than `Int64` holds counts as its limit.
    public var milliseconds: Int64 { whole(perSecond: 1_000) }

    private func whole(perSecond units: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        let (product, isFar) = seconds.multipliedReportingOverflow(by: units)
        let (sum, isFarther) = product.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / units))
        return isFar || isFarther ? (seconds < 0 ? .min : .max) : sum
    }
}
