public import ProtobufWire

/// A message of the schema, at the top level or inside another one.
///
/// ``visit(_:)`` is the message's field table: each field number is written there once, and both reading and writing use
/// it. Unknown fields are skipped, and so is a field with another wire type than the schema's. If a field occurs twice,
/// the last one counts.
protocol WireMessage {
    /// Creates the message without any field. Required fields are zero or empty until they are read.
    init()

    /// Passes each field and its number to the visitor, in ascending order of the numbers: they are written in this order.
    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure)
}

/// An operation on all fields of a message: reading (``FieldReader``) or writing (`WireWriter`).
protocol FieldVisitor {
    /// The error of the operation; `Never` for writing.
    associatedtype Failure: Error

    /// A scalar that may be absent.
    mutating func optional<Scalar: WireScalar>(_ number: UInt32, _ value: inout Scalar?) throws(Failure)

    /// A scalar that the schema requires; `name` is the message and the field as the schema names them.
    mutating func required<Scalar: WireScalar>(
        _ number: UInt32, _ value: inout Scalar, _ name: StaticString
    ) throws(Failure)

    /// A message that may be absent.
    mutating func optional<Message: WireMessage>(_ number: UInt32, _ value: inout Message?) throws(Failure)

    /// Any number of messages.
    mutating func repeated<Message: WireMessage>(_ number: UInt32, _ values: inout [Message]) throws(Failure)

    /// One of several fields with different types.
    mutating func choice<Choice: FieldChoice>(_ value: inout Choice?) throws(Failure)
}

extension FieldVisitor {
    /// A number with a type of its own that may be absent.
    mutating func optional<Number: RawRepresentable<UInt32>>(
        _ number: UInt32, _ value: inout Number?
    ) throws(Failure) {
        var rawValue = value?.rawValue
        try optional(number, &rawValue)
        if let read = rawValue.flatMap(Number.init) { value = read }
    }

    /// A number with a type of its own that the schema requires.
    mutating func required<Number: RawRepresentable<UInt32>>(
        _ number: UInt32, _ value: inout Number, _ name: StaticString
    ) throws(Failure) {
        var rawValue = value.rawValue
        try required(number, &rawValue, name)
        if let read = Number(rawValue: rawValue) { value = read }
    }
}

/// One of several fields, such as the body of an envelope.
protocol FieldChoice {
    /// Stores the alternative that the field holds; leaves the value unchanged if the field is none of them.
    static func read(_ field: WireField, into value: inout Self?) throws(MessageError)

    /// Writes the alternative as a field.
    func write(to writer: inout WireWriter)
}

/// Why a packet is not a message of a tag.
public enum MessageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are not protobuf.
    case malformed(ProtobufWireError)
    /// A field that the schema requires is absent; the message and the field as the schema names them.
    case missingField(String)

    /// A sentence for a log line; never contains bytes of the message.
    public var description: String {
        switch self {
        case .malformed(let error): "not a protobuf message: \(error)"
        case .missingField(let name): "\(name) is missing"
        }
    }
}

// MARK: - Reading

extension WireMessage {
    /// Reads a message that fills these bytes.
    init(packet: ArraySlice<UInt8>) throws(MessageError) {
        var reader = WireReader(packet)
        try self.init(&reader)
    }

    /// Reads all remaining fields.
    ///
    /// - Throws: ``MessageError`` if the bytes are not protobuf or a required field is missing.
    init(_ reader: inout WireReader) throws(MessageError) {
        self.init()
        var fields = FieldReader()
        while let field = try reader.next() {
            fields.field = field
            try visit(&fields)
        }
        fields.field = nil
        try visit(&fields)
    }
}

/// Stores one field in the variable with its number. Without a field, checks that the required fields were found.
private struct FieldReader: FieldVisitor {
    /// The field to store; nil after the last one.
    var field: WireField?
    /// The numbers of the required fields that were found, one bit each; the schema's are below 8.
    private var found: UInt8 = 0

    mutating func optional<Scalar: WireScalar>(
        _ number: UInt32, _ value: inout Scalar?
    ) throws(MessageError) {
        if let field, field.number == number { field.read(&value) }
    }

    mutating func required<Scalar: WireScalar>(
        _ number: UInt32, _ value: inout Scalar, _ name: StaticString
    ) throws(MessageError) {
        guard let field else {
            guard found & 1 << number != 0 else { throw .missingField("\(name)") }
            return
        }
        if field.number == number, let scalar = Scalar(wireValue: field.value) {
            value = scalar
            found |= 1 << number
        }
    }

    mutating func optional<Message: WireMessage>(
        _ number: UInt32, _ value: inout Message?
    ) throws(MessageError) {
        guard let field, field.number == number, var reader = field.message else { return }
        value = try Message(&reader)
    }

    mutating func repeated<Message: WireMessage>(
        _ number: UInt32, _ values: inout [Message]
    ) throws(MessageError) {
        guard let field, field.number == number, var reader = field.message else { return }
        values.append(try Message(&reader))
    }

    mutating func choice<Choice: FieldChoice>(_ value: inout Choice?) throws(MessageError) {
        if let field { try Choice.read(field, into: &value) }
    }
}

extension WireReader {
    @inline(__always)
    fileprivate mutating func next() throws(MessageError) -> WireField? {
        do {
            return try nextField()
        } catch {
            throw .malformed(error)
        }
    }
}

// MARK: - Writing

extension WireMessage {
    /// The message's bytes.
    var packet: [UInt8] {
        var writer = WireWriter()
        write(to: &writer)
        return writer.bytes
    }

    /// Writes the message as a field; without any field of its own it is a field of length 0.
    func write(to writer: inout WireWriter, field number: UInt32) {
        writer.writeMessage(field: number) { write(to: &$0) }
    }

    private func write(to writer: inout WireWriter) {
        var message = self
        message.visit(&writer)
    }
}

extension WireWriter: FieldVisitor {
    mutating func optional<Scalar: WireScalar>(_ number: UInt32, _ value: inout Scalar?) {
        write(value, field: number)
    }

    mutating func required<Scalar: WireScalar>(_ number: UInt32, _ value: inout Scalar, _ name: StaticString) {
        write(value, field: number)
    }

    mutating func optional<Message: WireMessage>(_ number: UInt32, _ value: inout Message?) {
        value?.write(to: &self, field: number)
    }

    mutating func repeated<Message: WireMessage>(_ number: UInt32, _ values: inout [Message]) {
        for value in values { value.write(to: &self, field: number) }
    }

    mutating func choice<Choice: FieldChoice>(_ value: inout Choice?) {
        value?.write(to: &self)
    }
}
