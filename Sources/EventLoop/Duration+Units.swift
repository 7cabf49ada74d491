extension Duration {
    /// Whole microseconds, rounded down; more than Int64 holds counts as its limit.
    public var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return product &+ attoseconds / 1_000_000_000_000
    }

    /// Whole milliseconds, rounded down.
    public var milliseconds: Int64 { microseconds / 1000 }
}
