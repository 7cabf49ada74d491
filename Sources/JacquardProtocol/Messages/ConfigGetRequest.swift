import ProtobufWire

/// Reads one element of the tag's own store.
///
/// Source: `ConfigGetRequest`, extension 123 of `Request`.
public struct ConfigGetRequest: Hashable, Sendable {
    /// Vendor of whose store it is.
    public var vendorID: JacquardIdentifier?
    /// Product of whose store it is.
    public var productID: JacquardIdentifier?
    /// What to read.
    public var key: String?

    /// Says nothing.
    public init() {}

    /// Reads the element with this key.
    public init(vendorID: JacquardIdentifier, productID: JacquardIdentifier, key: String) {
        self.vendorID = vendorID
        self.productID = productID
        self.key = key
    }
}

extension ConfigGetRequest: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&vendorID)
        case 2: field.read(&productID)
        case 3: field.read(&key)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(vendorID, field: 1)
        writer.write(productID, field: 2)
        writer.write(key, field: 3)
    }
}
