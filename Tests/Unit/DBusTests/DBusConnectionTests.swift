import EventLoop
import Glibc
import Logging
import TestSupport
import Testing

import func CDBus.dbus_connection_get_max_received_size
import func CDBus.dbus_connection_get_max_received_unix_fds
import func CDBus.dbus_free
import func CDBus.dbus_message_marshal
import func CDBus.dbus_message_set_serial

@testable import DBus

/// A bus with a service and a client on it.
@LoopActor
struct Pair {
    let bus: PrivateBus
    let service: DBusConnection
    let client: DBusConnection

    init() async throws {
        bus = try await PrivateBus()
        service = try await DBusConnection.open(bus.address, log: Logger("service", to: MemorySink()))
        client = try await DBusConnection.open(bus.address, log: Logger("client", to: MemorySink()))
        try await service.requestName("org.example")
    }

    /// How many match rules of the client the bus has, without those of a call that is not answered yet.
    func matchRules() async throws -> UInt32 {
        let bus = "org.freedesktop.DBus"
        let name = try await client.call(.call(to: bus, "/", bus, "GetNameOwner", [.string(client.uniqueName)]))
        let statistics = try await client.call(
            .call(to: bus, "/org/freedesktop/DBus", bus + ".Debug.Stats", "GetConnectionStats", name.arguments))
        return UInt32(statistics.arguments.first?.textKeyed?["MatchRules"]?.integer ?? 0)
    }

    func call(_ member: String, _ arguments: [DBusValue] = []) -> DBusMessage {
        .call(to: "org.example", "/thing", "org.example.Thing", member, arguments)
    }
}

@Suite("D-Bus connection")
struct DBusConnectionTests {
    @Test("answers any number of calls at once: those that the bus would refuse wait for others, in their order")
    func manyCalls() async throws {
        try await onLoop {
            let pair = try await Pair()
            var calls: [DBusMethodCall] = []
            pair.service.serve("/") { calls.append($0) }
            var answers: [Int] = []
            // dbus-daemon refuses the 129th.
            for number in 0..<300 {
                pair.client.call(pair.call("Echo", [.int32(Int32(number))])) { result in
                    answers.append((try? result.get())?.arguments.first?.integer ?? -1)
                }
            }
            try await until("the first ones") { calls.count == DBusConnection.mostPendingCalls }
            pair.service.serve("/") { $0.reply($0.message.arguments) }
            for call in calls { call.reply(call.message.arguments) }
            try await until("all answers") { answers.count == 300 }
            #expect(answers == Array(0..<300))
        }
    }

    @Test("that has ended fails the calls that wait for others, too")
    func manyCallsAtTheEnd() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.service.serve("/") { _ in }
            var failures = 0
            for _ in 0..<300 { pair.client.call(pair.call("Wait")) { if case .failure = $0 { failures += 1 } } }
            pair.client.close()
            try await until("all have failed") { failures == 300 }
        }
    }

    @Test("sends and receives values of all types")
    func types() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.service.serve("/") { $0.reply($0.message.arguments) }
            let values: [DBusValue] = [
                .byte(255), .boolean(true), .int16(-2), .uint16(65535), .int32(-3), .uint32(.max), .int64(.min),
                .uint64(.max), .double(1.5), .string("ä"), .objectPath("/a/b"), .signature("a{sv}"), .bytes([1, 2]),
                .bytes([]), .strings(["x", "y"]), .properties([("k", .uint16(7)), ("l", .bytes([9]))]),
                .dictionary([(.uint16(224), .variant(.bytes([1])))], key: "q", value: "v"),
                .structure([.byte(1), .string("s")]), .array([], element: "(oa{sv})"), .variant(.variant(.byte(3))),
            ]
            let answer = try await pair.client.call(pair.call("Echo", values)).arguments
            #expect(answer.map(\.signature) == values.map(\.signature))
            #expect("\(answer)" == "\(values)")
            // A copy has the header of the call, and arguments of its own.
            let call = pair.call("Echo")
            for value in values.prefix(2) {
                let answer = try await pair.client.call(call.copy(with: [value])).arguments
                #expect("\(answer)" == "\([value])")
            }
        }
    }

    @Test("returns a descriptor that the caller owns")
    func descriptors() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.service.serve("/") { call in
                var ends: [CInt] = [0, 0]
                pipe(&ends)
                _ = write(ends[1], "hello", 5)
                close(ends[1])
                call.reply([.descriptor(DBusDescriptor(owning: ends[0])), .uint16(64)])
            }
            let answer = try await pair.client.call(pair.call("Acquire")).arguments
            guard case .descriptor(let descriptor) = try #require(answer.first) else {
                Issue.record("no descriptor")
                return
            }
            let number = try #require(descriptor.take())
            #expect(descriptor.take() == nil)
            var bytes = [UInt8](repeating: 0, count: 8)
            #expect(read(number, &bytes, 8) == 5)
            close(number)
        }
    }

    @Test("keeps the peer's error name and text")
    func refusal() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.service.serve("/") { $0.refuse("org.bluez.Error.Failed", "le-connection-abort-by-local") }
            await #expect(
                throws: DBusError(.refused, name: "org.bluez.Error.Failed", text: "le-connection-abort-by-local")
            ) {
                try await pair.client.call(pair.call("Connect"))
            }
        }
    }

    @Test("times out a call without a reply, and drops a late reply")
    func deadline() async throws {
        try await onLoop {
            let pair = try await Pair()
            var held: [DBusMethodCall] = []
            pair.service.serve("/") { held.append($0) }
            let error = await #expect(throws: DBusError.self) {
                try await pair.client.call(pair.call("Hang"), within: .milliseconds(20))
            }
            #expect(error?.code == .timeout)
            held.forEach { $0.reply() }
            pair.service.serve("/") { $0.reply([.byte(1)]) }
            #expect(try await pair.client.call(pair.call("Next")).arguments.first?.integer == 1)
        }
    }

    @Test("distinguishes a missing service from a missing object")
    func missing() async throws {
        try await onLoop {
            let pair = try await Pair()
            let nobody = await #expect(throws: DBusError.self) {
                try await pair.client.call(.call(to: "org.nobody", "/", "org.nobody", "X"))
            }
            #expect(nobody?.name == "org.freedesktop.DBus.Error.ServiceUnknown")
            let nothing = await #expect(throws: DBusError.self) { try await pair.client.call(pair.call("X")) }
            #expect(nothing?.name == "org.freedesktop.DBus.Error.UnknownMethod")
        }
    }

    @Test("buffers at most 16 MiB and 64 descriptors of unhandled messages")
    func receivingLimit() async throws {
        try await onLoop {
            let pair = try await Pair()
            #expect(dbus_connection_get_max_received_size(pair.client.pointer) == 16 << 20)
            #expect(dbus_connection_get_max_received_unix_fds(pair.client.pointer) == 64)
        }
    }

    @Test("ends when a message of more than 16 MiB begins")
    func longMessage() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.service.serve("/") {
                $0.reply($0.message.member == "Long" ? [.bytes(.init(repeating: 0, count: 16 << 20))] : [])
            }
            _ = try await pair.client.call(pair.call("Short"))
            let error = await #expect(throws: DBusError.self) { try await pair.client.call(pair.call("Long")) }
            #expect(error?.code == .disconnected)
        }
    }

    @Test("leaves room for BlueZ's objects with 4,096 devices")
    func objects() async throws {
        try await onLoop { try measureObjects() }
    }

    @LoopActor
    private func measureObjects() throws {
        let text = String(repeating: "x", count: 29)
        let services = (0..<8).map { "0000180\($0)-0000-1000-8000-00805f9b34fb" }
        let device: DBusValue = .properties([
            ("Address", .string("F0:00:00:00:00:01")), ("AddressType", .string("random")), ("Name", .string(text)),
            ("Alias", .string(text)), ("Appearance", .uint16(960)), ("Icon", .string("input-keyboard")),
            ("Paired", .boolean(false)), ("Bonded", .boolean(false)), ("Trusted", .boolean(false)),
            ("Blocked", .boolean(false)), ("LegacyPairing", .boolean(false)), ("RSSI", .int16(-60)),
            ("Connected", .boolean(false)), ("UUIDs", .strings(services)), ("Adapter", .objectPath("/org/bluez/hci0")),
            (
                "ManufacturerData",
                .dictionary([(.uint16(224), .variant(.bytes(.init(repeating: 1, count: 24))))], key: "q", value: "v")
            ),
            ("ServiceData", .properties([(services[0], .bytes(.init(repeating: 1, count: 24)))])),
            ("TxPower", .int16(0)), ("ServicesResolved", .boolean(false)), ("AdvertisingFlags", .bytes([6])),
        ])
        let interfaces: DBusValue = .dictionary(
            [
                (.string("org.freedesktop.DBus.Introspectable"), .properties([])),
                (.string("org.bluez.Device1"), device),
                (.string("org.freedesktop.DBus.Properties"), .properties([])),
            ], key: "s", value: "a{sv}")
        let devices = (0..<4_096).map {
            (key: DBusValue.objectPath("/org/bluez/hci0/dev_F0_00_00_00_\($0)"), value: interfaces)
        }
        let message = DBusMessage.call(
            to: "org.bluez", "/", "a.b", "Objects", [.dictionary(devices, key: "o", value: "a{sa{sv}}")])
        var bytes: UnsafeMutablePointer<CChar>?
        var length: CInt = 0
        // libdbus marshals only messages with a serial number.
        dbus_message_set_serial(message.pointer, 1)
        try #require(dbus_message_marshal(message.pointer, &bytes, &length) != 0)
        dbus_free(bytes)
        print("measured: 4,096 devices take \(length) bytes")
        #expect((4 << 20..<DBusConnection.mostMessageBytes / 2).contains(Int(length)))
    }

    @Test("refuses calls while the bus does not read, and completes all accepted ones")
    func congestion() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.service.serve("/") { $0.reply() }
            pair.bus.daemon.signal(SIGSTOP)
            defer { pair.bus.daemon.signal(SIGCONT) }
            let block = [UInt8](repeating: 0, count: 65_536)
            var (refused, others) = (0, 0)
            for _ in 0..<100 {
                pair.client.call(pair.call("Store", [.bytes(block)]), within: .milliseconds(20)) { result in
                    guard case .failure(let error) = result else { return others += 1 }
                    if error.name == "org.freedesktop.DBus.Error.LimitsExceeded" { refused += 1 } else { others += 1 }
                }
            }
            try await until("the end of all calls") { refused + others == 100 }
            #expect((60..<100).contains(refused))
        }
    }

    @Test("fails all pending calls and reports the loss once when the bus disconnects")
    func busGone() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.service.serve("/") { _ in }
            var failures: [DBusError] = []
            var ends = 0
            pair.client.onDisconnect = { ends += 1 }
            for _ in 0..<3 {
                pair.client.call(pair.call("Hang")) { if case .failure(let error) = $0 { failures.append(error) } }
            }
            pair.bus.daemon.signal(SIGKILL)
            try await until("the end of the connection") { ends > 0 }
            #expect(failures == Array(repeating: .disconnected, count: 3))
            await #expect(throws: DBusError.disconnected) { try await pair.client.call(pair.call("More")) }
            #expect(ends == 1)
        }
    }

    @Test("does not wait for a bus that accepts no connections, and closes one that it accepts later")
    func hangingBus() async throws {
        try await onLoop {
            let folder = try ScratchFolder()
            let path = folder.path + "/bus"
            let listener = unixSocket()
            #expect(unixAddress(path) { bind(listener, $0, $1) } == 0 && listen(listener, 0) == 0)
            let first = unixSocket()
            #expect(unixAddress(path) { connect(first, $0, $1) } == 0)
            let second = unixSocket()
            #expect(unixAddress(path) { connect(second, $0, $1) } == -1 && errno == EAGAIN)
            close(second)
            let error = await #expect(throws: DBusError.self) {
                try await DBusConnection.open(
                    "unix:path=\(path)", within: .milliseconds(50), log: Logger("x", to: MemorySink()))
            }
            #expect(error?.code == .disconnected)
            close(accept(listener, nil, nil))
            close(first)
            var accepted: CInt = -1
            try await until("the connection") {
                accepted = accept(listener, nil, nil)
                return accepted >= 0
            }
            var byte: UInt8 = 0
            try await until("its end") { recv(accepted, &byte, 1, CInt(MSG_DONTWAIT)) == 0 }
            close(accepted)
            close(listener)
        }
    }

    private func unixSocket() -> CInt {
        socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    /// Calls a function with the address of a socket.
    private func unixAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    @Test("reports why it cannot connect")
    func noBus() async throws {
        try await onLoop {
            let error = await #expect(throws: DBusError.self) {
                try await DBusConnection.open("unix:path=/nonexistent/bus", log: Logger("x", to: MemorySink()))
            }
            #expect(error?.code == .disconnected)
            #expect(error?.text.contains("/nonexistent/bus") == true)
        }
    }
}

@Suite("D-Bus signals")
struct DBusSignalTests {
    @Test("are routed by path, member and first argument")
    func matching() async throws {
        try await onLoop {
            let pair = try await Pair()
            var seen: [String] = []
            let name = pair.client.watchName("org.example") { _ in }
            let below = pair.client.subscribe(
                to: DBusMatchRule(
                    sender: "org.example", interface: "org.example.Thing", member: "Changed", pathNamespace: "/a")
            ) { seen.append("below \($0.path)") }
            let exact = pair.client.subscribe(
                to: DBusMatchRule(
                    sender: "org.example", interface: "org.example.Thing", member: "Changed", path: "/ab",
                    argument0: "yes")
            ) { seen.append("exact \($0.path)") }
            pair.service.serve("/") { $0.reply() }
            _ = try await pair.client.call(pair.call("Settle"))
            for (path, argument) in [("/a", "x"), ("/a/b", "x"), ("/ab", "no"), ("/ab", "yes"), ("/c", "yes")] {
                pair.service.send(.signal(path, "org.example.Thing", "Changed", [.string(argument)]))
            }
            _ = try await pair.client.call(pair.call("Settle"))
            #expect(seen == ["below /a", "below /a/b", "exact /ab"])
            below.cancel()
            exact.cancel()
            pair.service.send(.signal("/a", "org.example.Thing", "Changed", [.string("x")]))
            _ = try await pair.client.call(pair.call("Settle"))
            #expect(seen.count == 3)
            name.cancel()
        }
    }

    @Test("are no longer sent by the bus after the subscription has ended")
    func unsubscribed() async throws {
        try await onLoop {
            let pair = try await Pair()
            let rules = try await pair.matchRules()
            let all = pair.client.subscribe(
                to: DBusMatchRule(sender: "org.example", interface: "org.example.Thing", member: "Changed")
            ) { _ in }
            #expect(try await pair.matchRules() == rules + 1)
            all.cancel()
            #expect(try await pair.matchRules() == rules)
        }
    }

    @Test("in large numbers leave time for other work")
    func flood() async throws {
        try await onLoop {
            let pair = try await Pair()
            let name = pair.client.watchName("org.example") { _ in }
            var (seen, counts) = (0, [Int]())
            let turn = EndOfTurnSource { counts.append(seen) }
            let all = pair.client.subscribe(
                to: DBusMatchRule(sender: "org.example", interface: "org.example.Thing", member: "Changed")
            ) { _ in
                seen += 1
                turn.request()
            }
            pair.service.serve("/") { $0.reply() }
            _ = try await pair.client.call(pair.call("Settle"))
            for _ in 0..<2_000 { pair.service.send(.signal("/a", "org.example.Thing", "Changed")) }
            try await until("all signals") { seen == 2_000 }
            #expect(counts.count > 10)
            withExtendedLifetime((name, all)) {}
        }
    }

    @Test("are accepted only from the owner of the name")
    func forged() async throws {
        try await onLoop {
            let pair = try await Pair()
            let forger = try await DBusConnection.open(pair.bus.address, log: Logger("forger", to: MemorySink()))
            pair.service.serve("/") { $0.reply() }
            forger.serve("/") { $0.reply() }
            var seen = 0
            let name = pair.client.watchName("org.example") { _ in }
            let all = pair.client.subscribe(
                to: DBusMatchRule(sender: "org.example", interface: "org.example.Thing", member: "Changed")
            ) { _ in seen += 1 }
            // A rule of the client's own lets the forger's signal through the bus.
            let careless = pair.client.subscribe(
                to: DBusMatchRule(
                    sender: "org.other", interface: "org.example.Thing", member: "Changed")
            ) { _ in seen += 100 }
            try await forger.requestName("org.other")
            _ = try await pair.client.call(pair.call("Settle"))
            forger.send(.signal("/a", "org.example.Thing", "Changed"))
            pair.service.send(.signal("/a", "org.example.Thing", "Changed"))
            _ = try await pair.client.call(.call(to: "org.other", "/thing", "org.example.Thing", "Settle"))
            _ = try await pair.client.call(pair.call("Settle"))
            #expect(seen == 1)
            withExtendedLifetime((name, all, careless)) {}
        }
    }

    @Test("report the owner of a name and its changes")
    func owners() async throws {
        try await onLoop {
            let pair = try await Pair()
            var owners: [Bool] = []
            let watch = pair.client.watchName("org.example") { owners.append($0 != nil) }
            try await until("the first owner") { owners == [true] }
            let bus = "org.freedesktop.DBus"
            let release = DBusMessage.call(
                to: bus, "/org/freedesktop/DBus", bus, "ReleaseName", [.string("org.example")])
            pair.service.call(release) { _ in }
            try await until("the end of it") { owners == [true, false] }
            try await pair.service.requestName("org.example")
            try await until("the next owner") { owners == [true, false, true] }
            watch.cancel()
        }
    }
}
