/// The bytes of one run, taken from the front.
struct Input {
    private(set) var rest: ArraySlice<UInt8>

    init(_ start: UnsafePointer<UInt8>, _ count: Int) {
        rest = Array(UnsafeBufferPointer(start: start, count: count))[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// One byte; 0 behind the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Some bytes, with one byte before them that says how many.
    mutating func bytes() -> [UInt8] {
        let count = Int(byte())
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Text, such as ``bytes()``.
    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    /// One of several.
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int(byte()) % choices.count] }
}

/// Ends the run with a report when something does not hold, in optimised builds too.
func require(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { fatalError(text()) }
}
