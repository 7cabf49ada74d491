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
        if let text { bytes.append(json: text) } else { bytes.append(contentsOf: "null".utf8) }
    }

    /// Adds a number.
    public mutating func add(_ key: StaticString, _ number: Int64) {
        begin(key)
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Adds `true` or `false`.
    public mutating func add(_ key: StaticString, _ flag: Bool) {
        begin(key)
        bytes.append(contentsOf: flag ? "true".utf8 : "false".utf8)
    }

    /// Adds an object.
    public mutating func add(_ key: StaticString, _ object: JSONObjectWriter) {
        begin(key)
        bytes.append(contentsOf: object.finished)
    }

    /// Adds any other document.
    public mutating func add(_ key: StaticString, document: some Encodable) {
        begin(key)
        bytes.append(contentsOf: JSONText.bytes(of: document))
    }

    /// The bytes of the object.
    public var finished: [UInt8] { bytes + [UInt8(ascii: "}")] }

    private mutating func begin(_ key: StaticString) {
        assert(lastKey.description < key.description, "\(key) comes after \(lastKey)")
        if lastKey.utf8CodeUnitCount > 0 { bytes.append(UInt8(ascii: ",")) }
        lastKey = key
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
        bytes.append(contentsOf: "\":".utf8)
    }
}
