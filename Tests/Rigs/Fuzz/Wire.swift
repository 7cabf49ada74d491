import ProtobufWire

/// Fields of any kind, and the messages in them; what is written of what was read, reads alike.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Input(start, count)
    guard let written = rewritten(WireReader(input.rest), depth: 0) else { return 0 }
    require(rewritten(WireReader(written[...]), depth: 0) == written, "what was written reads as something else")
    return 0
}

/// The fields of a message, written again; nil when it cannot be read.
private func rewritten(_ message: WireReader, depth: Int) -> [UInt8]? {
    var reader = message
    var writer = WireWriter()
    do {
        while let field = try reader.nextField() { write(field, into: &writer, depth: depth) }
    } catch {
        return nil
    }
    require(reader.remaining.isEmpty, "the reader stops before the end")
    return writer.bytes
}

private func write(_ field: WireField, into writer: inout WireWriter, depth: Int) {
    var (integer, float, double): (UInt64?, Float?, Double?)
    var (text, bytes): (String?, [UInt8]?)
    readAsEveryType(field)
    field.read(&integer)
    field.read(&float)
    field.read(&double)
    field.read(&text)
    field.read(&bytes)
    writer.write(integer, field: field.number)
    writer.write(float, field: field.number)
    writer.write(double, field: field.number)
    writer.write(bytes, field: field.number)
    if depth < 8, let message = field.message { _ = rewritten(message, depth: depth + 1) }
}

private func readAsEveryType(_ field: WireField) {
    var (unsigned, signed, wide, flag): (UInt32?, Int32?, Int64?, Bool?)
    field.read(&unsigned)
    field.read(&signed)
    field.read(&wide)
    field.read(&flag)
}
