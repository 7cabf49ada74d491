extension Duration {
    /// Whole microseconds, rounded towards zero; more than `Int64` holds counts as its limit.
    public var microseconds: Int64 { whole(perSecond: 1_000_000) }

    /// Whole milliseconds, rounded towards zero; more than `Int64` holds counts as its limit.
    public var milliseconds: Int64 { whole(perSecond: 1_000) }

    private func whole(perSecond units: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: units)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return product &+ attoseconds / (1_000_000_000_000_000_000 / units)
    }
}
