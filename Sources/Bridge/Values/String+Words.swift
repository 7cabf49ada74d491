extension String {
    /// A name of the contract as text: `pair_found` becomes `pair found`.
    public var asWords: String { String(map { $0 == "_" ? " " : $0 }) }
}
