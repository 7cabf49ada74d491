/// A reported value with the time of the report.
struct Timestamped<Value: Sendable>: Sendable {
    let value: Value
    let at: Moment
}
