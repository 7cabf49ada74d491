import JacquardProtocol
import Testing

/// Each message as this module and as Google's implementation have it.
@Suite("Schema", .serialized)
struct SchemaTests {
    @Test(
        "encodes each request as protoc does",
        arguments: Example<Request>.everyday + Example<Request>.whole + Example<Request>.motion)
    func request(_ example: Example<Request>) throws {
        let protoc = Protoc(message: "Request")
        let packet = example.message.encoded(id: 1)
        #expect(try protoc.decode(packet) == example.text)
        #expect(try protoc.encode(example.text) == packet)
        let decoded = try Request.decode(packet[...])
        #expect(decoded.id == 1)
        #expect(decoded.request == example.message)
    }

    @Test(
        "encodes each response as protoc does",
        arguments: Example<Response>.all + Example<Response>.store + Example<Response>.motion)
    func response(_ example: Example<Response>) throws {
        let protoc = Protoc(message: "Response")
        let packet = example.message.encoded()
        #expect(try protoc.decode(packet) == example.text)
        #expect(try protoc.encode(example.text) == packet)
        #expect(try Response.decode(packet[...]) == example.message)
    }

    @Test(
        "encodes each notification as protoc does", arguments: Example<Notification>.all + Example<Notification>.motion)
    func notification(_ example: Example<Notification>) throws {
        let protoc = Protoc(message: "Notification")
        let packet = example.message.encoded()
        #expect(try protoc.decode(packet) == example.text)
        #expect(try protoc.encode(example.text) == packet)
        #expect(try Notification.decode(packet[...]) == example.message)
    }

}
