import JacquardProtocol
import ProtobufWire
import Testing

@Suite("Request")
struct RequestTests {
    @Test("equals that of the SDK byte for byte", arguments: Example<Request>.everyday.filter { $0.packet != nil })
    func bytes(_ example: Example<Request>) throws {
        let packet = try #require(example.packet)
        #expect(example.message.encoded(id: 1) == packet)
        #expect(try Request.decode(packet[...]).request == example.message)
    }

    @Test("carries any id", arguments: [0, 1, 127, 128, 254, UInt32.max])
    func id(_ id: UInt32) throws {
        #expect(try Request.decode(Request.hello().encoded(id: id)[...]).id == id)
    }

    @Test("may have its fields in any order, and unknown fields")
    func order() throws {
        let packet = [UInt8](hex: "AA 06 04 18 05 08 02 18 01 F2 3F 02 FF FF 10 02 08 00 58 07")
        let (id, request) = try Request.decode(packet[...])
        #expect(id == 1)
        #expect(request == .begin())
    }

    @Test("is decoded with unknown domain, opcode and body")
    func unknown() throws {
        // Domain 99, opcode 98, and an extension 1204 that is not read.
        let (_, request) = try Request.decode([0x08, 99, 0x10, 98, 0x18, 1, 0xA2, 0x4B, 0])
        #expect(request == Request(domain: Domain(rawValue: 99), opcode: Opcode(rawValue: 98)))
    }

    @Test(
        "needs domain, opcode, id and the required fields of its body",
        arguments: [
            ("10 01 18 01", "Request.domain"),
            ("08 00 18 01", "Request.opcode"),
            ("08 00 10 01", "Request.id"),
            // The domain with the wire type of text is an unknown field.
            ("0A 00 10 01 18 01", "Request.domain"),
            ("08 00 10 02 18 01 AA 06 00", "BeginRequest.protocol"),
            ("08 08 10 06 18 01 D2 38 0A 0A 08 10 64 18 01 20 3C 28 02", "HapticSymbol.on_ms"),
            ("08 08 10 06 18 01 D2 38 0A 0A 08 08 64 18 01 20 3C 28 02", "HapticSymbol.off_ms"),
            ("08 08 10 06 18 01 D2 38 0A 0A 08 08 64 10 01 20 3C 28 02", "HapticSymbol.pattern"),
            ("08 08 10 06 18 01 D2 38 0A 0A 08 08 64 10 01 18 01 28 02", "HapticSymbol.max_amplitude_percent"),
            ("08 08 10 06 18 01 D2 38 0A 0A 08 08 64 10 01 18 01 20 02", "HapticSymbol.repeat_n_minus_one"),
        ])
    func missing(hex: String, field: String) {
        #expect(throws: MessageError.missingField(field)) { try Request.decode([UInt8](hex: hex)[...]) }
    }

    @Test("rejects bytes that are not protobuf")
    func malformed() {
        #expect(throws: MessageError.malformed(.truncated)) { try Request.decode([0x08]) }
        #expect(throws: MessageError.malformed(.truncated)) {
            // The body's length is right, that of the message inside is not.
            try Request.decode([UInt8](hex: "08 00 10 0B 18 01 EA 44 04 12 09 50 0E")[...])
        }
    }
}
