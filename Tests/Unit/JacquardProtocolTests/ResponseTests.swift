import JacquardProtocol
import Testing

@Suite("Response")
struct ResponseTests {
    @Test(
        "is decoded from a real tag's bytes, and encoded to the same",
        arguments: Example<Response>.all.filter { $0.packet != nil })
    func bytes(_ example: Example<Response>) throws {
        let packet = try #require(example.packet)
        #expect(try Response.decode(packet[...]) == example.message)
        #expect(example.message.encoded() == packet)
    }

    @Test("has the status that the tag has sent, also one outside the schema")
    func status() throws {
        #expect(try Response.decode([0x08, 1, 0x10, 10]).status == .busy)
        #expect(try Response.decode([0x08, 1, 0x10, 15]).status.description == "ERROR_LOW_MEMORY")
        #expect(try Response.decode([0x08, 1, 0x10, 99]).status.rawValue == 99)
    }

    @Test("is decoded with an unknown body")
    func unknown() throws {
        // Extension 1202, the list of modules.
        #expect(try Response.decode([0x08, 1, 0x10, 0, 0x9A, 0x4B, 0]) == Response(id: 1))
    }

    @Test(
        "needs id and status",
        arguments: [
            ("10 00", "Response.id"),
            ("08 01", "Response.status"),
        ])
    func missing(hex: String, field: String) throws {
        #expect(throws: MessageError.missingField(field)) {
            try Response.decode([UInt8](hex: hex)[...])
        }
    }

    @Test(
        "has no body if a required field of the body is missing",
        arguments: [
            "08 01 10 00 A2 06 06 10 02 1A 00 22 00",
            "08 01 10 00 A2 06 06 08 02 1A 00 22 00",
            "08 01 10 00 A2 06 06 08 02 10 02 22 00",
            "08 01 10 00 A2 06 06 08 02 10 02 1A 00",
            "08 01 10 00 BA 06 06 12 00 18 04 22 00",
            "08 01 10 00 BA 06 06 0A 00 18 04 22 00",
            "08 01 10 00 BA 06 06 0A 00 12 00 22 00",
            "08 01 10 00 BA 06 06 0A 00 12 00 18 04",
            "08 01 10 00 DA 38 08 1A 06 0A 04 10 01 18 01",
        ])
    func incompleteBody(hex: String) throws {
        #expect(try Response.decode([UInt8](hex: hex)[...]) == Response(id: 1))
    }
}
