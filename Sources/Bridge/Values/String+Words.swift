extension String {
    /// A name of the contract for people: `pair_found` as `pair found`.
    public var asWords: String { String(map { $0 == "_" ? " " : $0 }) }
}
