import ProtobufWire

/// An operation on all fields of a message: reading or writing.
protocol ProxyFields {
    /// The error of the operation; `Never` for writing.
    associatedtype Failure: Error

    /// A value; 0, false and empty values are not written, as in proto3.
    mutating func scalar<Value: ProxyScalar>(_ number: UInt32, _ value: inout Value)
    /// A `sint32`.
    mutating func signed(_ number: UInt32, _ value: inout Int32)
    /// Bytes that share the memory of the message that is read.
    mutating func slice(_ number: UInt32, _ value: inout ArraySlice<UInt8>)
    /// One of several numbers. A message with another one is ignored.
    mutating func choice<Choice: RawRepresentable<UInt32>>(_ number: UInt32, _ value: inout Choice)
    /// Any count of numbers, packed or one by one.
    mutating func numbers(_ number: UInt32, _ values: inout [UInt64]) throws(Failure)
    /// Any count of messages.
    mutating func list<Body: ProxyBody>(_ number: UInt32, _ values: inout [Body]) throws(Failure)
}

/// A message inside of another one.
protocol ProxyBody {
    /// Creates the message without values.
    init()
    /// Passes each field to the operation.
    mutating func visit<Fields: ProxyFields>(_ fields: inout Fields) throws(Fields.Failure)
}

/// A value of a field.
protocol ProxyScalar: WireScalar {
    /// Whether the field is not written.
    var isDefault: Bool { get }
}

extension UInt32: ProxyScalar { var isDefault: Bool { self == 0 } }
extension UInt64: ProxyScalar { var isDefault: Bool { self == 0 } }
extension Int32: ProxyScalar { var isDefault: Bool { self == 0 } }
extension Bool: ProxyScalar { var isDefault: Bool { !self } }
extension String: ProxyScalar { var isDefault: Bool { isEmpty } }
extension [UInt8]: ProxyScalar { var isDefault: Bool { isEmpty } }

// MARK: Reading

extension ProxyMessage {
    /// The most elements of a list that are read. The rest is ignored.
    static let longestList = 256

    /// Decodes a message of untrusted bytes.
    ///
    /// - Returns: nil for a message of an unknown type, or with an unknown state or request, which is to be ignored.
    /// - Throws: ``ProxyError/malformed(_:)`` if the bytes are no protobuf message.
    public static func decode(_ frame: FrameChannel.Message) throws(ProxyError) -> ProxyMessage? {
        guard var message = types[frame.type] else { return nil }
        var (reader, isKnown) = (WireReader(frame.body[...]), true)
        do {
            while let field = try reader.nextField() {
                var fields = FieldReader(field: field)
                try message.visit(&fields)
                isKnown = isKnown && fields.isKnown
            }
        } catch {
            throw .malformed("message \(frame.type): \(error)")
        }
        return isKnown ? message : nil
    }
}

extension ProxyBody {
    fileprivate init(_ message: WireReader) throws(ProtobufWireError) {
        self.init()
        var reader = message
        while let field = try reader.nextField() {
            var fields = FieldReader(field: field)
            try visit(&fields)
        }
    }
}

/// Stores one field in the variable with its number.
private struct FieldReader: ProxyFields {
    /// The most bytes of an advertisement and its scan response together, of which an extended one has 1650. ESPHome sends at most 62.
    private static let longestSlice = 255

    let field: WireField
    /// Whether a choice has a number that is known.
    private(set) var isKnown = true

    init(field: WireField) {
        self.field = field
    }

    func scalar<Value: ProxyScalar>(_ number: UInt32, _ value: inout Value) {
        if number == field.number, let read = Value(wireValue: field.value) { value = read }
    }

    func signed(_ number: UInt32, _ value: inout Int32) {
        guard number == field.number, let bits = UInt32(wireValue: field.value) else { return }
        value = Int32(bitPattern: bits >> 1) ^ -Int32(bitPattern: bits & 1)
    }

    func slice(_ number: UInt32, _ value: inout ArraySlice<UInt8>) {
        if number == field.number, case .bytes(let bytes) = field.value { value = bytes.prefix(Self.longestSlice) }
    }

    mutating func choice<Choice: RawRepresentable<UInt32>>(_ number: UInt32, _ value: inout Choice) {
        guard number == field.number, let read = UInt32(wireValue: field.value) else { return }
        if let choice = Choice(rawValue: read) { value = choice } else { isKnown = false }
    }

    func numbers(_ number: UInt32, _ values: inout [UInt64]) throws(ProtobufWireError) {
        guard number == field.number else { return }
        switch field.value {
        case .varint(let number): if values.count < ProxyMessage.longestList { values.append(number) }
        case .bytes:
            guard var reader = field.message else { return }
            while !reader.remaining.isEmpty {
                let number = try reader.readVarint()
                if values.count < ProxyMessage.longestList { values.append(number) }
            }
        case .fixed32, .fixed64: break
        }
    }

    func list<Body: ProxyBody>(_ number: UInt32, _ values: inout [Body]) throws(ProtobufWireError) {
        guard number == field.number, let body = field.message, values.count < ProxyMessage.longestList else { return }
        // ESPHome sends at most 16 advertisements.
        if values.isEmpty { values.reserveCapacity(16) }
        values.append(try Body(body))
    }
}

// MARK: Writing

extension ProxyMessage {
    /// The message as it is sent.
    public var frame: FrameChannel.Message {
        var (message, writer) = (self, WireWriter())
        message.visit(&writer)
        return FrameChannel.Message(type: type, body: writer.bytes)
    }
}

extension WireWriter: ProxyFields {
    mutating func scalar<Value: ProxyScalar>(_ number: UInt32, _ value: inout Value) {
        if !value.isDefault { write(value, field: number) }
    }

    mutating func signed(_ number: UInt32, _ value: inout Int32) {
        if value != 0 { write(UInt32(bitPattern: (value << 1) ^ (value >> 31)), field: number) }
    }

    mutating func slice(_ number: UInt32, _ value: inout ArraySlice<UInt8>) {
        if !value.isEmpty { write(Array(value), field: number) }
    }

    mutating func choice<Choice: RawRepresentable<UInt32>>(_ number: UInt32, _ value: inout Choice) {
        if value.rawValue != 0 { write(value.rawValue, field: number) }
    }

    mutating func numbers(_ number: UInt32, _ values: inout [UInt64]) {
        for value in values { write(value, field: number) }
    }

    mutating func list<Body: ProxyBody>(_ number: UInt32, _ values: inout [Body]) {
        for value in values {
            var body = value
            writeMessage(field: number) { body.visit(&$0) }
        }
    }
}
