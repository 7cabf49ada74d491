/// A reported value with the time of the report.
struct Told<Value: Sendable>: Sendable {
    let value: Value
    let at: Moment
}
