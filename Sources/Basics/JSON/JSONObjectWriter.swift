/// Writes an object member by member, without an encoder, which takes ten times as long.
///
/// For documents that are made with each command. The bytes equal those of ``JSONText`` if the members are added in the
/// order of their keys; a debug build checks the order.
public struct JSONObjectWriter {
    private var bytes: [UInt8] = []
    private var lastKey: StaticString = ""

    /// Creates an object without members.
    ///
    /// - Parameter capacity: the expected size in bytes.
    public init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
        bytes.append(UInt8(ascii: "{"))
    }

    /// Adds a text; `null` for nil.
    public mutating func add(_ key: StaticString, _ text: String?) {
        begin(key)
        if let text { bytes.append(json: text) } else { append("null") }
    }

    /// Adds a number.
    public mutating func add(_ key: StaticString, _ number: Int64) {
        begin(key)
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(decimal: number.magnitude)
    }

    /// Adds a time.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - unixMilliseconds: milliseconds since 1970-01-01T00:00:00Z.
    ///   - text: formats it.
    public mutating func add(_ key: StaticString, time unixMilliseconds: Int64, _ text: inout TimeText) {
        begin(key)
        bytes.append(UInt8(ascii: "\""))
        text.append(unixMilliseconds, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds `true` or `false`.
    public mutating func add(_ key: StaticString, _ flag: Bool) {
        begin(key)
        append(flag ? "true" : "false")
    }

    /// Adds an object.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - members: adds the members of the object.
    public mutating func add(_ key: StaticString, members: (inout JSONObjectWriter) -> Void) {
        begin(key)
        bytes.append(UInt8(ascii: "{"))
        lastKey = ""
        members(&self)
        bytes.append(UInt8(ascii: "}"))
        lastKey = key
    }

    /// Adds any other document.
    public mutating func add(_ key: StaticString, document: some Encodable) {
        begin(key)
        bytes.append(contentsOf: JSONText.bytes(of: document))
    }

    /// Ends the object.
    ///
    /// - Returns: its bytes.
    public consuming func finished() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func begin(_ key: StaticString) {
        assert(lastKey.description < key.description, "\(key) comes after \(lastKey)")
        if lastKey.utf8CodeUnitCount > 0 { bytes.append(UInt8(ascii: ",")) }
        lastKey = key
        bytes.append(UInt8(ascii: "\""))
        append(key)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
