import ProtobufWire

/// Writes one element of the tag's own store.
///
/// Source: `ConfigSetRequest`, extension 122 of `Request`.
public struct ConfigSetRequest: Hashable, Sendable {
    /// Vendor of whose store it is.
    public var vendorID: JacquardIdentifier?
    /// Product of whose store it is.
    public var productID: JacquardIdentifier?
    /// What to write.
    public var element: ConfigElement?

    /// Says nothing.
    public init() {}

    /// Writes an element.
    public init(vendorID: JacquardIdentifier, productID: JacquardIdentifier, element: ConfigElement) {
        self.vendorID = vendorID
        self.productID = productID
        self.element = element
    }
}

extension ConfigSetRequest: LenientMessage {
    mutating func read(_ field: WireField) throws(MessageError) {
        switch field.number {
        case 1: field.read(&vendorID)
        case 2: field.read(&productID)
        case 3: try field.read(&element)
        default: break
        }
    }

    func write(to writer: inout WireWriter) {
        writer.write(vendorID, field: 1)
        writer.write(productID, field: 2)
        writer.write(element, field: 3)
    }
}
