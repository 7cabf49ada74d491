/// The one way in which documents become bytes: sorted keys, so that equal documents are equal bytes.
///
/// The bytes are those of Foundation's `JSONEncoder` with sorted keys and without escaped slashes.
public enum JSONText {
    /// The document on one line.
    ///
    /// - Returns: UTF-8; `null` for a document with a number that is not finite, which JSON does not have.
    public static func bytes(of document: some JSONDocument) -> [UInt8] { bytes { document.write(to: &$0) } }

    /// An object on one line.
    ///
    /// - Parameter members: adds its members, in any order.
    /// - Returns: UTF-8; `null` as above.
    public static func objectBytes(_ members: (inout JSONWriter) -> Void) -> [UInt8] { bytes { $0.object(members) } }

    /// The document on lines for people, indented by two spaces.
    public static func indentedBytes(of document: some JSONDocument) -> [UInt8] {
        bytes(isIndented: true) { document.write(to: &$0) }
    }

    private static func bytes(isIndented: Bool = false, _ document: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter(capacity: 512, isIndented: isIndented)
        document(&json)
        // Copied without spare capacity, because documents may be kept for long.
        return json.finished().withUnsafeBufferPointer(Array.init)
    }
}
