import Bluetooth
import DBus
import EventLoop
import Glibc
import TestSupport
import Testing

@testable import BlueZ

@Suite("Write route")
struct WriteRouteTests {
    private static let held = DBusError(.refused, name: "org.bluez.Error.NotPermitted", text: "Write acquired")
    private static let busy = DBusError(.refused, name: "org.bluez.Error.InProgress", text: "In Progress")
    private static let other = DBusError(.refused, name: "org.bluez.Error.NotPermitted", text: "Write not permitted")

    @Test("requests a descriptor with the first write without response, and only then")
    func acquires() {
        var route = WriteRoute()
        #expect(route.next(.withResponse, length: 9) == .call)
        #expect(route.next(.withoutResponse, length: 9) == .acquire)
        #expect(route.next(.withoutResponse, length: 9) == .wait)
        #expect(route.next(.withResponse, length: 9) == .wait)
        route.acquired(mtu: 64)
        for _ in 0..<2 { #expect(route.next(.withoutResponse, length: 9) == .descriptor) }
    }

    @Test("calls once the descriptor was refused, and requests no other")
    func refused() {
        var route = WriteRoute()
        _ = route.next(.withoutResponse, length: 1)
        route.refused()
        for type in [WriteType.withoutResponse, .withResponse] { #expect(route.next(type, length: 1) == .call) }
        #expect(!route.isTransient(Self.held) && route.isTransient(Self.busy) && !route.isTransient(Self.other))
    }

    @Test(
        "releases the descriptor for what cannot be written to it",
        arguments: [
            (WriteType.withResponse, 61), (.withoutResponse, 62), (.withoutResponse, 0),
        ])
    func releases(type: WriteType, length: Int) {
        var route = WriteRoute()
        _ = route.next(.withoutResponse, length: 1)
        route.acquired(mtu: 64)
        #expect(route.next(.withoutResponse, length: 61) == .descriptor)
        #expect(route.next(type, length: length) == .release)
        #expect(route.next(.withoutResponse, length: 1) == .call)
        // BlueZ may not have noticed.
        #expect(route.isTransient(Self.held) && route.isTransient(Self.busy) && !route.isTransient(Self.other))
    }

    @Test("calls once BlueZ has closed the descriptor, or did not answer")
    func ended() {
        for isAcquired in [true, false] {
            var route = WriteRoute()
            _ = route.next(.withoutResponse, length: 1)
            if isAcquired { route.acquired(mtu: 23) }
            route.ended()
            #expect(route.next(.withoutResponse, length: 1) == .call)
            #expect(route.isTransient(Self.held))
        }
    }

    @Test("calls where BlueZ cannot pass a descriptor, and then holds none itself")
    func withoutDescriptors() {
        var route = WriteRoute(passesDescriptors: false)
        #expect(route.next(.withoutResponse, length: 1) == .call)
        #expect(!route.isTransient(Self.held))
    }

    @Test("treats an MTU below the smallest one as room for one byte")
    func smallMTU() {
        for mtu in [0, 3] {
            var route = WriteRoute()
            _ = route.next(.withoutResponse, length: 1)
            route.acquired(mtu: mtu)
            #expect(route.next(.withoutResponse, length: 1) == .descriptor)
            #expect(route.next(.withoutResponse, length: 2) == .release)
        }
    }
}

@Suite("Write channel")
struct WriteChannelTests {
    @Test("writes each value as a packet until the socket is full, and never blocks")
    func packets() throws {
        let (channel, reader) = try Self.channel()
        defer { close(reader) }
        var count = 0
        while count < 100_000, channel.write([UInt8(count & 255), 7]) == .written { count += 1 }
        #expect((2..<100_000).contains(count))
        #expect(channel.write([1]) == .full)
        for number in 0..<count { #expect(Self.read(reader) == [UInt8(number & 255), 7]) }
        #expect(channel.write([1]) == .written)
        #expect(Self.read(reader) == [1])
    }

    @Test("reports that the other end is closed, and raises no signal")
    func closed() throws {
        let (channel, reader) = try Self.channel()
        close(reader)
        // A program that another test starts has a copy of each descriptor for a moment.
        let deadline = ContinuousClock.now + .seconds(20)
        while channel.write([1]) != .closed, .now < deadline {}
        #expect(channel.write([1]) == .closed)
        #expect(channel.write([1]) == .closed)
    }

    @Test("closes its descriptor")
    func close_() throws {
        var (channel, reader): (WriteChannel?, CInt) = try Self.channel()
        defer { close(reader) }
        #expect(channel?.write([1]) == .written)
        channel = nil
        #expect(Self.read(reader) == [1])
        // At once, or when a program that another test starts has closed its copy.
        var end = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&end, 1, 20_000) == 1)
        #expect(Self.read(reader) == [])
    }

    private static func channel() throws -> (WriteChannel, reader: CInt) {
        var ends: [CInt] = [0, 0]
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        return (WriteChannel(owning: ends[0]), ends[1])
    }

    /// The next packet; empty at the end, nil if there is none.
    private static func read(_ descriptor: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }
}
