/// A value that is written as JSON.
public protocol JSONDocument {
    /// Writes the value.
    func write(to json: inout JSONWriter)
}

/// A value that is written as an object of JSON. Its members are said once, here.
public protocol JSONRecord: JSONDocument {
    /// Adds the members, in any order.
    func addMembers(to object: inout JSONWriter)
}

extension JSONRecord {
    /// Writes the object.
    public func write(to json: inout JSONWriter) { json.object(addMembers) }
}

extension Optional: JSONDocument where Wrapped: JSONDocument {
    /// Writes the value, or `null`.
    public func write(to json: inout JSONWriter) {
        if let self { self.write(to: &json) } else { json.write(word: "null") }
    }
}

extension Array: JSONDocument where Element: JSONDocument {
    /// Writes a list.
    public func write(to json: inout JSONWriter) { json.list(self) }
}

extension Dictionary: JSONDocument where Key == String, Value: JSONDocument {
    /// Writes an object.
    public func write(to json: inout JSONWriter) { json.object { $0.add(members: self) } }
}

extension String: JSONDocument {
    /// Writes the text.
    public func write(to json: inout JSONWriter) { json.write(self) }
}

extension Bool: JSONDocument {
    /// Writes `true` or `false`.
    public func write(to json: inout JSONWriter) { json.write(word: self ? "true" : "false") }
}

extension JSONDocument where Self: FixedWidthInteger {
    /// Writes the number.
    public func write(to json: inout JSONWriter) { json.write(integer: self) }
}

extension Int: JSONDocument {}
extension Int64: JSONDocument {}
extension UInt8: JSONDocument {}
extension UInt32: JSONDocument {}
extension UInt64: JSONDocument {}

extension JSONDocument where Self: BinaryFloatingPoint & CustomStringConvertible {
    /// Writes the number; without a fraction as a whole one.
    public func write(to json: inout JSONWriter) { json.write(number: self) }
}

extension Float: JSONDocument {}
extension Double: JSONDocument {}

extension JSONValue: JSONDocument {
    /// Writes what the value holds, as if it stood alone.
    public func write(to json: inout JSONWriter) {
        switch self {
        case .null: json.write(word: "null")
        case .bool(let value): value.write(to: &json)
        case .integer(let value): value.write(to: &json)
        case .unsigned(let value): value.write(to: &json)
        case .number(let value): value.write(to: &json)
        case .string(let value): value.write(to: &json)
        case .array(let value): value.write(to: &json)
        case .object(let value): value.write(to: &json)
        }
    }
}
