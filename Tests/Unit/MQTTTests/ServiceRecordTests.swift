import Dispatch
import EventLoop
import Synchronization
import TestSupport
import Testing

@testable import MQTT

@Suite("Service record")
struct ServiceRecordTests {
    /// A name without compression.
    private static func encoded(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    private static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }

    /// An answer to a question for `_mqtt._tcp.example.org`, whose name begins at byte 12.
    private static func answer(_ records: [[UInt8]]) -> [UInt8] {
        let parts: [[UInt8]] = [
            [0x12, 0x34, 0x81, 0x80], number(1), number(records.count), [0, 0, 0, 0],
            encoded("_mqtt._tcp.example.org"), number(33), number(1),
        ]
        return (parts + records).flatMap(\.self)
    }

    /// A record of type SRV whose name is a pointer to the question.
    private static func srv(_ priority: Int, _ weight: Int, _ port: Int, _ target: [UInt8]) -> [UInt8] {
        record(33, number(priority) + number(weight) + number(port) + target)
    }

    private static func record(_ type: Int, _ data: [UInt8]) -> [UInt8] {
        let parts: [[UInt8]] = [[0xC0, 12], number(type), number(1), [0, 0, 0, 60], number(data.count), data]
        return parts.flatMap(\.self)
    }

    @Test("reads priority, weight, port and target, also of a compressed name, and skips other types")
    func read() {
        // `example.org` begins behind `_mqtt` (6 bytes) and `_tcp` (5 bytes) of the name at byte 12.
        let compressed: [UInt8] = [1] + Array("b".utf8) + [0xC0, 23]
        let message = Self.answer([
            Self.srv(10, 5, 1883, Self.encoded("a.example.org")), Self.record(5, Self.encoded("c")),
            // The names of records are not checked: no connection is made to them.
            [Self.encoded("no host"), Self.number(16), Self.number(1), [0, 0, 0, 60, 0, 2, 1, 97]].flatMap(\.self),
            Self.srv(0, 65535, 8883, compressed), Self.srv(0, 0, 1883, [0]),
        ])
        #expect(
            ServiceRecord.records(in: message) == [
                ServiceRecord(priority: 10, weight: 5, address: MQTTAddress(host: "a.example.org", port: 1883)),
                ServiceRecord(priority: 0, weight: 65535, address: MQTTAddress(host: "b.example.org", port: 8883)),
            ])
    }

    @Test("reads up to the last byte: a record without data may be the last one")
    func emptyLast() {
        let node = Self.srv(0, 1, 1883, Self.encoded("a"))
        let records = ServiceRecord.records(in: Self.answer([node, Self.record(16, [])]))
        #expect(records?.map(\.address.description) == ["a:1883"])
    }

    @Test("reads a pointer behind the first 255 bytes")
    func farPointer() {
        let text = Self.record(16, [UInt8](repeating: 0, count: 300))
        let node = Self.srv(0, 1, 1883, Self.encoded("a.example.org"))
        // Behind the header and the question, the other record, and the numbers of its own.
        let place = Self.answer([]).count + text.count + node.count - Self.encoded("a.example.org").count
        let pointer = [0xC0 | UInt8(place >> 8), UInt8(place & 0xFF)]
        let records = ServiceRecord.records(in: Self.answer([text, node, Self.srv(0, 1, 8883, pointer)]))
        #expect(records?.map(\.address.description) == ["a.example.org:1883", "a.example.org:8883"])
    }

    @Test("uses at most 16 records")
    func limit() {
        let record = Self.srv(0, 0, 1, Self.encoded("a"))
        #expect(ServiceRecord.records(in: Self.answer(Array(repeating: record, count: 40)))?.count == 16)
    }

    @Test(
        "rejects a malformed message",
        arguments: [
            [], [0, 1, 2],
            // A target that points at itself, one that points forward, and one past the end.
            answer([srv(0, 0, 1, [0xC0, 12 + 24 + 4 + 18])]), answer([srv(0, 0, 1, [0xC3, 0xFF])]),
            answer([srv(0, 0, 1, [63, 1])]),
            // A label of a type that does not exist, and a host name with a character that none has.
            answer([srv(0, 0, 1, [0x80, 1, 0])]), answer([srv(0, 0, 1, encoded("a b"))]),
            // A target that is longer than its record.
            answer([record(33, [0, 0, 0, 0, 0, 1, 5, 97])]),
            // A name that repeats itself: a label and a pointer to it.
            [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 0xC0, 12],
        ] as [[UInt8]])
    func malformed(message: [UInt8]) {
        #expect(ServiceRecord.records(in: message) == nil)
    }

    @Test("never reads past the end, whichever part of a message is missing or changed")
    func truncated() {
        let message = Self.answer([
            Self.srv(1, 2, 3, Self.encoded("a.example.org")), Self.srv(1, 2, 3, [1, 98, 0xC0, 23]),
        ])
        for length in message.indices { #expect(ServiceRecord.records(in: Array(message.prefix(length))) == nil) }
        for index in message.indices {
            for byte in [0, 1, 0x3F, 0x40, 0x7F, 0xC0, 0xFF] as [UInt8] {
                var changed = message
                changed[index] = byte
                #expect((ServiceRecord.records(in: changed)?.count ?? 0) <= 16)
            }
        }
    }

    @Test("an answer that is malformed or has no record is an error, any other one has the nodes in order")
    func nodes() {
        func nodes(_ answer: [UInt8]) -> String {
            switch ServiceLookup.nodes(in: answer, of: "_mqtt._tcp.example.org", .listed) {
            case .success(let nodes): nodes.map(\.description).joined(separator: " ")
            case .failure(let error): error.text
            }
        }
        let records = [Self.srv(1, 0, 1883, Self.encoded("b")), Self.srv(0, 0, 8883, Self.encoded("a"))]
        #expect(nodes([]) == "SRV _mqtt._tcp.example.org: a malformed answer")
        #expect(nodes(Self.answer([])) == "SRV _mqtt._tcp.example.org: the answer names no node")
        #expect(nodes(Self.answer(records)) == "a:8883 b:1883")
    }

    private static let records = [(1, 10, "c"), (0, 10, "b"), (0, 90, "a"), (0, 0, "z")].map {
        ServiceRecord(priority: UInt16($0), weight: UInt16($1), address: MQTTAddress(host: $2, port: 1883))
    }

    @Test("orders nodes by priority, then by weight")
    func listed() {
        #expect(ServiceRecord.ordered(Self.records, .listed).map(\.host) == ["a", "b", "z", "c"])
    }

    @Test("spreads keys over the nodes of the first priority in proportion to their weights")
    func spread() {
        var counts: [String: Int] = [:]
        for number in 0..<1000 {
            let order = ServiceRecord.ordered(Self.records, .spread(key: "attic-\(number)")).map(\.host)
            #expect(order.last == "c")
            counts[order[0], default: 0] += 1
        }
        #expect((850...950).contains(counts["a"] ?? 0), "\(counts)")
        #expect((50...150).contains(counts["b"] ?? 0), "\(counts)")
    }

    @Test("gives a node without weight a tenth of the share of one with the weight 1")
    func weightless() {
        let records = [0, 1].map {
            ServiceRecord(priority: 0, weight: $0, address: MQTTAddress(host: "weight-\($0)", port: 1883))
        }
        let count = (0..<2000).count {
            ServiceRecord.ordered(records, .spread(key: "attic-\($0)"))[0].host == "weight-0"
        }
        #expect((140...230).contains(count), "\(count)")
    }

    @Test("the name has the service of an encrypted broker, or of one that is not")
    func serviceName() {
        #expect(ServiceLookup.name(of: "example.org", isEncrypted: false) == "_mqtt._tcp.example.org")
        #expect(ServiceLookup.name(of: "example.org", isEncrypted: true) == "_secure-mqtt._tcp.example.org")
    }

    @Test("a name without records is an error with the resolver's text")
    func missing() {
        guard case .failure(let error) = ServiceLookup.nodes(of: "_mqtt._tcp.invalid", .listed) else {
            Issue.record("an answer for a name that does not exist")
            return
        }
        #expect(error.code == .nameNotResolved)
        #expect(error.text.hasPrefix("SRV _mqtt._tcp.invalid: "))
    }

    @Test(
        "a client connects to the nodes that the lookup finds, and looks them up again after a round; if that fails, it tries the last ones"
    )
    func client() async throws {
        try await onLoop {
            let unused = try ReservedPort()
            let broker = try await PrivateBroker()
            let answers = [
                Result<[MQTTAddress], MQTTError>.failure(MQTTError(.nameNotResolved, "no answer")),
                .success([MQTTAddress(host: "127.0.0.1", port: unused.number)]),
                .failure(MQTTError(.nameNotResolved, "no answer")),
                .success([
                    MQTTAddress(host: "127.0.0.1", port: unused.number),
                    MQTTAddress(host: "127.0.0.1", port: broker.port),
                ]),
            ]
            let counter = Counter()
            var configuration = MQTTConfiguration.test(0)
            configuration.service = "_mqtt._tcp.example.org"
            configuration.lookUp = { _, _ in answers[min(counter.next(), answers.count - 1)] }
            let client = TestClient(configuration)
            try await client.connected()
            #expect(client.errors.map(\.code) == [.nameNotResolved, .unreachable, .unreachable, .unreachable])
            #expect(client.sessions.first?.node?.port == broker.port)
            await client.client.stop()
        }
    }

    @Test("a client waits for the lookup as long as for a connection")
    func deadline() async throws {
        // The helper that hangs is everybody's.
        try await onLoop(alone: true) {
            let isBack = DispatchSemaphore(value: 0)
            var configuration = MQTTConfiguration.test(0)
            configuration.service = "_mqtt._tcp.example.org"
            configuration.connectDeadline = .milliseconds(100)
            configuration.lookUp = { _, _ in
                isBack.wait()
                isBack.signal()
                return .success([])
            }
            let client = TestClient(configuration)
            try await until("the end of the attempt") { !client.errors.isEmpty }
            #expect(client.errors.first?.text == "no answer from the resolver in time")
            isBack.signal()
            await client.client.stop()
        }
    }

    @Test("a client that is stopped does not wait for the lookup")
    func stopped() async throws {
        // The helper that hangs is everybody's.
        try await onLoop(alone: true) {
            let isBack = DispatchSemaphore(value: 0)
            let counter = Counter()
            var configuration = MQTTConfiguration.test(0)
            configuration.service = "_mqtt._tcp.example.org"
            configuration.connectDeadline = .seconds(3_600)
            configuration.lookUp = { _, _ in
                _ = counter.next()
                isBack.wait()
                return .success([])
            }
            let client = TestClient(configuration)
            try await until("the lookup") { counter.count == 1 }
            // The lookup ends after the test if the client waits for it.
            let timer = LoopTimer { isBack.signal() }
            timer.arm(after: .seconds(20))
            await client.client.stop()
            #expect(timer.isArmed)
            #expect(client.errors.map(\.code) == [.stopped])
            isBack.signal()
        }
    }
}

/// A number that the helper thread counts up.
private final class Counter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func next() -> Int { value.add(1, ordering: .relaxed).oldValue }
}
