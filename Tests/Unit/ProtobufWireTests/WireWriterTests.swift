import ProtobufWire
import Testing

@Suite("WireWriter")
struct WireWriterTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let write: @Sendable (inout WireWriter) -> Void

        init(_ name: String, _ bytes: [UInt8], _ write: @escaping @Sendable (inout WireWriter) -> Void) {
            testDescription = name
            self.bytes = bytes
            self.write = write
        }
    }

    @Test(
        "writes each wire type",
        arguments: [
            Example("uint32", [0x08, 0x96, 0x01]) { $0.write(UInt32(150), field: 1) },
            Example("uint64", [0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]) {
                $0.write(UInt64.max, field: 1)
            },
            Example("negative int32", [0x10, 0xF4, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]) {
                $0.write(Int32(-12), field: 2)
            },
            Example("negative int64", [0x10, 0xF4, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]) {
                $0.write(Int64(-12), field: 2)
            },
            Example("true", [0x08, 0x01]) { $0.write(true, field: 1) },
            Example("false", [0x08, 0x00]) { $0.write(false, field: 1) },
            Example("float", [0x25, 0x00, 0x00, 0xA0, 0x41]) { $0.write(Float(20), field: 4) },
            Example("double", [0x41, 0, 0, 0, 0, 0, 0, 0x34, 0x40]) { $0.write(Double(20), field: 8) },
            Example("string", [0x0A, 0x03, 0x4A, 0xC3, 0xA4]) { $0.write("Jä", field: 1) },
            Example("bytes", [0x12, 0x02, 0x00, 0xFF]) { $0.write([0x00, 0xFF] as [UInt8], field: 2) },
            Example("no bytes", [0x12, 0x00]) { $0.write([] as [UInt8], field: 2) },
            Example("empty message", [0xDA, 0x3E, 0x00]) { $0.writeMessage(field: 1003) { _ in } },
            Example("message", [0x0A, 0x02, 0x08, 0x05]) {
                $0.writeMessage(field: 1) { $0.write(UInt32(5), field: 1) }
            },
        ])
    func write(_ example: Example) {
        var writer = WireWriter()
        example.write(&writer)
        #expect(writer.bytes == example.bytes)
    }

    @Test("writes nothing for an absent value")
    func absence() {
        var writer = WireWriter()
        writer.write(nil as UInt32?, field: 1)
        writer.write(nil as Int32?, field: 1)
        writer.write(nil as Bool?, field: 1)
        writer.write(nil as Float?, field: 1)
        writer.write(nil as Double?, field: 1)
        writer.write(nil as String?, field: 1)
        writer.write(nil as [UInt8]?, field: 1)
        #expect(writer.bytes == [])
    }

    @Test("writes the length of 128 bytes in two bytes")
    func longMessage() {
        var writer = WireWriter()
        writer.writeMessage(field: 1) { $0.write([UInt8](repeating: 7, count: 126), field: 2) }
        #expect(writer.bytes.prefix(5) == [0x0A, 0x80, 0x01, 0x12, 0x7E])
        #expect(writer.bytes.count == 131)
    }
}
