/// Why a value is refused; reads on after the value: `is not a number`.
struct Rejection: Error, Hashable {
    /// The predicate of the sentence; never holds the value.
    let reason: String

    /// States the reason.
    init(_ reason: String) {
        self.reason = reason
    }
}
