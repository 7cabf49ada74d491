/// What a tag said, and when.
struct Told<Value: Sendable>: Sendable {
    let value: Value
    let at: Moment
}
