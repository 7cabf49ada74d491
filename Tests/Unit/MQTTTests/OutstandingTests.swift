import Testing

@testable import MQTT

@Suite("Outstanding messages")
struct OutstandingTests {
    @Test("are unwritten from their publication until they are written, and count until they are acknowledged")
    func life() {
        var outstanding = Outstanding()
        #expect(!outstanding.isUnwritten)
        outstanding.published(7, ticket: 70)
        #expect(outstanding.isUnwritten)
        outstanding.written()
        #expect(!outstanding.isUnwritten)
        #expect(outstanding.messages == 1)
        #expect(outstanding.ticket(for: 7) == 70)
        #expect(outstanding.ticket(for: 7) == nil)
        #expect(outstanding.messages == 0)
    }
}
