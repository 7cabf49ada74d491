import Testing
import Time

@testable import HTTPServer

@Suite("Connection table")
struct ConnectionTableTests {
    private static let start = Instant(sinceBoot: .seconds(100))

    @Test("accepts eight connections of one address, and of others")
    func perAddress() {
        var table = ConnectionTable(limits: HTTPLimits()) { _ in false }
        for id in 1...8 {
            #expect(table.accepts("192.0.2.1"))
            table.began(UInt(id), address: "192.0.2.1", at: Self.start)
        }
        #expect(!table.accepts("192.0.2.1"))
        #expect(table.accepts("192.0.2.2"))
        table.ended(3)
        #expect(table.accepts("192.0.2.1"))
    }

    @Test("accepts 32 connections of one IPv6 network, and eight of each of its addresses")
    func perNetwork() {
        var table = ConnectionTable(limits: HTTPLimits()) { _ in false }
        for id in 0..<32 {
            let address = "2001:db8:0:1::\(id / 8 + 1)"
            #expect(table.accepts(address))
            table.began(UInt(id + 1), address: address, at: Self.start)
            if id == 7 { #expect(!table.accepts(address)) }
        }
        #expect(!table.accepts("2001:db8:0:1:9::9"))
        #expect(table.accepts("2001:db8:0:2::1"))
        #expect(table.accepts("192.0.2.1"))
        table.ended(3)
        #expect(table.accepts("2001:db8:0:1:9::9"))
    }

    @Test(
        "finds the network of an address",
        arguments: [
            ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"), ("2001:DB8:0:1::", "2001:db8:0:1::/64"),
            ("::1", "::/64"), ("fe80::1%eth0", "fe80::/64%eth0"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("::FFFF:c000:201", "192.0.2.1"), ("192.0.2.1", "192.0.2.1"), ("", ""), ("unknown", "unknown"),
            ("2001:db8::/64", "2001:db8::/64"), ("1::2::3", "1::2::3"),
        ])
    func network(address: String, network: String) {
        #expect(PeerAddress.network(of: address) == network)
    }

    @Test("accepts 64 connections, also of an address that many users share")
    func total() {
        var table = ConnectionTable(limits: HTTPLimits()) { $0 == "127.0.0.1" }
        for id in 1...64 {
            #expect(table.accepts("127.0.0.1"))
            table.began(UInt(id), address: "127.0.0.1", at: Self.start)
        }
        #expect(!table.accepts("127.0.0.1"))
        #expect(!table.accepts("192.0.2.1"))
    }

    @Test("ends a connection whose request is not complete after ten seconds")
    func slowRequest() {
        var table = ConnectionTable(limits: HTTPLimits()) { _ in false }
        table.began(1, address: "192.0.2.1", at: Self.start)
        table.began(2, address: "192.0.2.2", at: Self.start + .seconds(1))
        table.received(2)
        #expect(table.nextDeadline == Self.start + .seconds(10))
        #expect(table.takeOverdue(at: Self.start + .seconds(9.9)).isEmpty)
        #expect(table.takeOverdue(at: Self.start + .seconds(10)) == [1])
        #expect(table.takeOverdue(at: Self.start + .seconds(60)).isEmpty)
        #expect(table.nextDeadline == nil)
    }

    @Test("ends a connection that is unused for ten seconds after a response")
    func unused() {
        var table = ConnectionTable(limits: HTTPLimits()) { _ in false }
        table.began(1, address: "192.0.2.1", at: Self.start)
        table.received(1)
        table.responded(1, at: Self.start + .seconds(20))
        #expect(table.takeOverdue(at: Self.start + .seconds(29)).isEmpty)
        #expect(table.takeOverdue(at: Self.start + .seconds(30)) == [1])
        table.ended(1)
        table.responded(1, at: Self.start + .seconds(31))
        #expect(table.nextDeadline == nil)
    }
}
