import Testing
import Time

@testable import HTTPServer

@Suite("Connection table")
struct ConnectionTableTests {
    private static let start = Instant(sinceBoot: .seconds(100))

    /// A table with connections of an address whose requests are handled.
    private static func table(shared: String = "", busy: [(address: String, count: Int)] = []) -> ConnectionTable {
        var table = ConnectionTable(limits: HTTPLimits()) { $0 == shared }
        for (address, count) in busy {
            for _ in 0..<count {
                let id = UInt(table.count + 1)
                #expect(table.accepts(address))
                table.began(id, address: address, at: start)
                table.received(id)
            }
        }
        return table
    }

    /// The connections that are ended after a new one begins.
    private static func unused(_ table: inout ConnectionTable, _ id: UInt, _ address: String) -> [UInt] {
        table.began(id, address: address, at: start)
        table.ran()
        let first = table.takeUnused()
        #expect(first == [] || !first.contains(id))
        guard table.isCrowded else { return first }
        table.ran()
        return first + table.takeUnused()
    }

    @Test(
        "loopback, private, link-local and unique local addresses are private",
        arguments: [
            ("127.0.0.1", true), ("10.1.2.3", true), ("172.16.0.1", true), ("172.31.255.255", true),
            ("192.168.1.5", true), ("169.254.0.9", true), ("::1", true), ("fd00::5", true), ("fe80::1%eth0", true),
            ("172.32.0.1", false), ("172.15.0.1", false), ("192.0.2.1", false), ("11.0.0.1", false),
            ("2001:db8::1", false), ("fec0::1", false), ("::", false), ("::2", false), ("", false), ("10.1", false),
        ])
    func privateAddress(address: String, isPrivate: Bool) {
        #expect(PeerAddress.isPrivate(address) == isPrivate)
    }

    @Test("accepts eight connections of one address, and of others")
    func perAddress() {
        var table = Self.table(busy: [("192.0.2.1", 8)])
        #expect(!table.accepts("192.0.2.1"))
        #expect(table.accepts("192.0.2.2"))
        table.ended(3)
        #expect(table.accepts("192.0.2.1"))
    }

    @Test("accepts 32 connections of one IPv6 network, and eight of each of its addresses")
    func perNetwork() {
        var table = Self.table(busy: (1...4).map { ("2001:db8:0:1::\($0)", 8) })
        #expect(!table.accepts("2001:db8:0:1::1"))
        #expect(!table.accepts("2001:db8:0:1:9::9"))
        #expect(table.accepts("2001:db8:0:2::1"))
        #expect(table.accepts("192.0.2.1"))
        table.ended(3)
        #expect(table.accepts("2001:db8:0:1:9::9"))
    }

    @Test("ends the oldest unused connection of an address or a network that has too many")
    func unusedOfAddress() {
        let one = "2001:db8:0:1::1"
        var table = Self.table(busy: [(one, 6), ("2001:db8:0:1::2", 8), ("2001:db8:0:1::3", 8)])
        for id: UInt in 101...102 { #expect(Self.unused(&table, id, one) == []) }
        #expect(table.accepts(one))
        #expect(Self.unused(&table, 103, one) == [101])
        table.received(102)
        #expect(Self.unused(&table, 104, one) == [103])
        table.received(104)
        // Those that the server has ended don't count.
        #expect(!table.accepts(one))
        for id: UInt in 105...112 { #expect(Self.unused(&table, id, "2001:db8:0:1::4") == []) }
        #expect(Self.unused(&table, 113, "2001:db8:0:1::5") == [105])
        #expect(Self.unused(&table, 114, "2001:db8:0:1::4") == [106])
    }

    @Test("when few connections are left, ends the oldest unused one of the network that has the most")
    func unusedOfAll() {
        var table = Self.table(shared: "127.0.0.1", busy: [("127.0.0.1", 55)])
        for id: UInt in 101...102 { #expect(Self.unused(&table, id, "192.0.2.1") == []) }
        for id: UInt in 103...105 { #expect(Self.unused(&table, id, "127.0.0.1") == []) }
        #expect(Self.unused(&table, 106, "192.0.2.2") == [103])
        #expect(Self.unused(&table, 107, "192.0.2.1") == [101])
    }

    @Test("a connection is not unused while its request is read, handled or answered")
    func used() {
        var table = Self.table(shared: "127.0.0.1", busy: [("127.0.0.1", 60)])
        for id: UInt in 101...103 { table.began(id, address: "127.0.0.1", at: Self.start) }
        table.ran()
        #expect(table.takeUnused() == [])
        #expect(table.isCrowded)
        table.received(101)
        table.received(102)
        table.responding(102, at: Self.start)
        table.ran()
        #expect(table.takeUnused() == [103])
        #expect(!table.isCrowded)
        table.responded(102, at: Self.start)
        #expect(Self.unused(&table, 104, "127.0.0.1") == [102, 104])
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
        let table = Self.table(shared: "127.0.0.1", busy: [("127.0.0.1", 64)])
        #expect(!table.accepts("127.0.0.1"))
        #expect(!table.accepts("192.0.2.1"))
    }

    @Test("ends a connection that takes longer than a minute to read a response")
    func slowResponse() {
        var table = Self.table(busy: [("192.0.2.1", 1)])
        table.responding(1, at: Self.start)
        #expect(table.takeOverdue(at: Self.start + .seconds(59)) == [])
        #expect(table.takeOverdue(at: Self.start + .seconds(60)) == [1])
        table.responded(1, at: Self.start + .seconds(61))
        #expect(table.nextDeadline == nil)
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
