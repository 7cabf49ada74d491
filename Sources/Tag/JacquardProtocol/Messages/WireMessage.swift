public import ProtobufWire

/// A message of the schema, at the top level or inside another one.
///
/// ``visit(_:)`` is the message's field table: each field number is written there once, and both reading and writing
/// use it. Unknown fields are skipped, and so is a field with another wire type than the schema's. If a field occurs
/// twice, the last one counts.
protocol WireMessage {
    /// Creates the message without any field. Required fields are zero or empty until they are read.
    init()

    /// Passes each field and its number to the visitor, in ascending order of the numbers: they are written in this
    /// order.
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

    /// A number with a type of its own that may be absent.
    mutating func optional<Number: RawRepresentable<UInt32>>(
        _ number: UInt32, _ value: inout Number?
    ) throws(Failure)

    /// A number with a type of its own that the schema requires.
    mutating func required<Number: RawRepresentable<UInt32>>(
        _ number: UInt32, _ value: inout Number, _ name: StaticString
    ) throws(Failure)

    /// A message that may be absent.
    mutating func optional<Message: WireMessage>(_ number: UInt32, _ value: inout Message?) throws(Failure)

    /// Any number of messages.
    mutating func repeated<Message: WireMessage>(_ number: UInt32, _ values: inout [Message]) throws(Failure)

    /// Any number of scalars, one field each: real tags don't pack them.
    mutating func repeated<Scalar: WireScalar>(_ number: UInt32, _ values: inout [Scalar]) throws(Failure)

    /// One of several fields with different types.
    mutating func choice<Choice: FieldChoice>(_ value: inout Choice?) throws(Failure)

    /// The messages with numbers that were not visited before. They are written in the order of their numbers.
    mutating func others(_ values: inout [OtherBody])
}

/// One of several fields, such as the body of an envelope.
protocol FieldChoice {
    /// Stores the alternative that the field holds; leaves the value unchanged if the field is none of them.
    static func read(_ field: WireField, into value: inout Self?) throws(MessageError)

    /// Writes the alternative as a field.
    func write(to writer: inout WireWriter)
}

/// Why a packet is not a message of a tag.
public enum MessageError: Error, Equatable, Sendable, CustomStringConvertible {
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
            fields.number = field.number
            fields.value = field.value
            fields.isStored = false
            try visit(&fields)
        }
        // A message that has shown a field and no required one has nothing to check.
        guard fields.number == FieldReader.end || fields.hasRequired else { return }
        fields.number = FieldReader.end
        try visit(&fields)
    }
}

/// Stores one field in the variable with its number. After the last field, checks that the required fields were found.
///
/// Each call compares the number before anything else, because most calls are for another field. Storing has functions
/// of its own: without optimization, a generic function looks up the types of its variables at its beginning.
private struct FieldReader: FieldVisitor {
    /// Stands for the number of a field after the last one; no field has it.
    static let end: UInt32 = 0

    /// The number of the field to store.
    var number = Self.end
    /// The value of the field to store.
    var value = WireField.Value.varint(0)
    /// The numbers of the required fields that were found, one bit each; the schema's are below 8.
    private var found: UInt8 = 0
    /// Whether a required field was visited.
    private(set) var hasRequired = false
    /// Whether a variable has the number of the field.
    var isStored = false

    init() {}

    @inline(__always)
    private mutating func isMeant(_ number: UInt32) -> Bool {
        guard number == self.number else { return false }
        isStored = true
        return true
    }

    mutating func optional<Scalar: WireScalar>(
        _ number: UInt32, _ variable: inout Scalar?
    ) throws(MessageError) {
        guard isMeant(number) else { return }
        store(in: &variable)
    }

    private func store<Scalar: WireScalar>(in variable: inout Scalar?) {
        if let scalar = Scalar(wireValue: value) { variable = scalar }
    }

    mutating func optional<Number: RawRepresentable<UInt32>>(
        _ number: UInt32, _ variable: inout Number?
    ) throws(MessageError) {
        guard isMeant(number) else { return }
        store(in: &variable)
    }

    private func store<Number: RawRepresentable<UInt32>>(in variable: inout Number?) {
        if let read = UInt32(wireValue: value).flatMap(Number.init) { variable = read }
    }

    mutating func required<Scalar: WireScalar>(
        _ number: UInt32, _ variable: inout Scalar, _ name: StaticString
    ) throws(MessageError) {
        hasRequired = true
        if self.number == Self.end { return try check(number, name) }
        guard isMeant(number) else { return }
        store(in: &variable)
    }

    private mutating func store<Scalar: WireScalar>(in variable: inout Scalar) {
        guard let scalar = Scalar(wireValue: value) else { return }
        variable = scalar
        found |= 1 << number
    }

    mutating func required<Number: RawRepresentable<UInt32>>(
        _ number: UInt32, _ variable: inout Number, _ name: StaticString
    ) throws(MessageError) {
        hasRequired = true
        if self.number == Self.end { return try check(number, name) }
        guard isMeant(number) else { return }
        store(in: &variable)
    }

    private mutating func store<Number: RawRepresentable<UInt32>>(in variable: inout Number) {
        guard let read = UInt32(wireValue: value).flatMap(Number.init) else { return }
        variable = read
        found |= 1 << number
    }

    private func check(_ number: UInt32, _ name: StaticString) throws(MessageError) {
        guard found & 1 << number != 0 else { throw .missingField("\(name)") }
    }

    mutating func optional<Message: WireMessage>(
        _ number: UInt32, _ variable: inout Message?
    ) throws(MessageError) {
        guard isMeant(number) else { return }
        try store(in: &variable)
    }

    private func store<Message: WireMessage>(in variable: inout Message?) throws(MessageError) {
        guard var reader = message else { return }
        variable = try Message(&reader)
    }

    mutating func repeated<Message: WireMessage>(
        _ number: UInt32, _ variable: inout [Message]
    ) throws(MessageError) {
        guard isMeant(number), var reader = message else { return }
        variable.append(try Message(&reader))
    }

    mutating func repeated<Scalar: WireScalar>(
        _ number: UInt32, _ variable: inout [Scalar]
    ) throws(MessageError) {
        guard isMeant(number), let scalar = Scalar(wireValue: value) else { return }
        variable.append(scalar)
    }

    mutating func choice<Choice: FieldChoice>(_ variable: inout Choice?) throws(MessageError) {
        guard number != Self.end else { return }
        try Choice.read(WireField(number: number, value: value), into: &variable)
    }

    mutating func others(_ values: inout [OtherBody]) {
        guard !isStored, number != Self.end, case .bytes(let bytes) = value else { return }
        values.set(number, to: Array(bytes))
    }

    private var message: WireReader? { WireField(number: number, value: value).message }
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

    mutating func optional<Number: RawRepresentable<UInt32>>(_ number: UInt32, _ value: inout Number?) {
        write(value?.rawValue, field: number)
    }

    mutating func required<Number: RawRepresentable<UInt32>>(
        _ number: UInt32, _ value: inout Number, _ name: StaticString
    ) {
        write(value.rawValue, field: number)
    }

    mutating func optional<Message: WireMessage>(_ number: UInt32, _ value: inout Message?) {
        value?.write(to: &self, field: number)
    }

    mutating func repeated<Message: WireMessage>(_ number: UInt32, _ values: inout [Message]) {
        for value in values { value.write(to: &self, field: number) }
    }

    mutating func repeated<Scalar: WireScalar>(_ number: UInt32, _ values: inout [Scalar]) {
        for value in values { write(value, field: number) }
    }

    mutating func choice<Choice: FieldChoice>(_ value: inout Choice?) {
        value?.write(to: &self)
    }

    mutating func others(_ values: inout [OtherBody]) {
        for body in values { write(body.bytes, field: body.number) }
    }
}
