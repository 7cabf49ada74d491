import ProtobufWire

/// A message of the schema, whole or inside another one.
protocol WireMessage {
    /// Reads all fields; unknown ones are skipped, of one that comes twice the last counts.
    init(_ reader: inout WireReader) throws(MessageError)

    /// Writes all fields that are present, in ascending order.
    func write(to writer: inout WireWriter)
}

/// A message without required fields: it begins empty and takes its fields as they come.
protocol LenientMessage: WireMessage {
    /// No field is present.
    init()

    /// Takes one field; ignores it if the number is unknown.
    mutating func read(_ field: WireField) throws(MessageError)
}

extension LenientMessage {
    init(_ reader: inout WireReader) throws(MessageError) {
        self.init()
        while let field = try reader.next() {
            try read(field)
        }
    }
}

extension WireReader {
    /// The next field, with the error of this module.
    @inline(__always)
    mutating func next() throws(MessageError) -> WireField? {
        do {
            return try nextField()
        } catch {
            throw .malformed(error)
        }
    }
}

extension WireField {
    /// Reads a message inside this one.
    func read<Message: WireMessage>(_ variable: inout Message?) throws(MessageError) {
        guard var reader = message else { return }
        variable = try Message(&reader)
    }

    /// Reads one element of a repeated field.
    func read<Message: WireMessage>(_ variable: inout [Message]) throws(MessageError) {
        guard var reader = message else { return }
        variable.append(try Message(&reader))
    }

    /// Reads a number that has a type of its own.
    func read<Number: RawRepresentable<UInt32>>(_ variable: inout Number?) {
        var number: UInt32?
        read(&number)
        if let value = number.flatMap(Number.init) { variable = value }
    }
}

extension WireWriter {
    /// Writes a message inside this one; an empty message is a field of length 0, nil is no field.
    mutating func write(_ message: (some WireMessage)?, field number: UInt32) {
        guard let message else { return }
        writeMessage(field: number) { message.write(to: &$0) }
    }

    /// Writes a number that has a type of its own.
    mutating func write(_ number: (some RawRepresentable<UInt32>)?, field: UInt32) {
        write(number?.rawValue, field: field)
    }
}

extension Optional {
    /// The value of a required field.
    func required(_ name: String) throws(MessageError) -> Wrapped {
        guard let self else { throw .missingField(name) }
        return self
    }
}
