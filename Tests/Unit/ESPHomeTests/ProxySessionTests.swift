import Testing
import Time

@testable import ESPHome

/// A session and the proxy at its other end, as values, with a clock.
struct SessionBench {
    var session: ProxySession
    var proxy: FrameChannel
    var now = Instant(sinceBoot: .seconds(1000))
    /// The messages of the client, without those of the handshake.
    var sent: [ProxyMessage] = []
    static var info: ProxyInfo {
        var info = ProxyInfo()
        info.name = "loft"
        info.version = "2026.6.5"
        info.features = .all
        return info
    }
    static let helloResponse = ProxyMessage.helloResponse(major: 1, minor: 14, server: "ESPHome", name: "loft")
    static let probe = ProxyMessage.device(1, .disconnect, addressType: nil)
    static let probeResponse = ProxyMessage.connection(1, isConnected: false, mtu: 0, error: 0)

    init(isEncrypted: Bool = true) throws {
        let pair = try ChannelPair()
        session = ProxySession(isEncrypted ? pair.client : .plain(), at: now)
        proxy = isEncrypted ? pair.server : .plain()
    }

    /// A session that the proxy serves.
    static func open() throws -> SessionBench {
        var bench = try SessionBench()
        #expect(try bench.exchange() == [])
        #expect(try bench.receive(helloResponse) == [])
        #expect(try bench.receive(.deviceInfoResponse(info)) == [])
        #expect(try bench.receive(.scannerState(.running)) == [.opened(info), .received(.scannerState(.running))])
        bench.sent = []
        return bench
    }

    /// Passes bytes between both ends until there are none.
    mutating func exchange() throws -> [ProxySession.Event] {
        var events: [ProxySession.Event] = []
        while true {
            let output = session.takeOutput()
            for frame in try proxy.receive(output) { sent.append(try #require(try ProxyMessage.decode(frame))) }
            let answer = proxy.takeOutput()
            if output.isEmpty, answer.isEmpty { return events }
            events += session.receive(answer, at: now)
        }
    }

    /// Lets the proxy send a message.
    mutating func receive(_ message: ProxyMessage) throws -> [ProxySession.Event] {
        try proxy.send(message.frame)
        return try exchange()
    }

    /// Lets time pass, at each deadline of the session.
    mutating func pass(_ time: Duration) throws -> [ProxySession.Event] {
        let end = now + time
        var events: [ProxySession.Event] = []
        while let deadline = session.deadline, deadline <= end {
            now = max(now, deadline)
            events += session.timeReached(at: now)
            events += try exchange()
        }
        now = end
        return events
    }
}

@Suite("A session with a proxy")
struct ProxySessionTests {
    @Test("says hello, subscribes, and is open when the proxy serves it", arguments: [true, false])
    func opening(isEncrypted: Bool) throws {
        var bench = try SessionBench(isEncrypted: isEncrypted)
        #expect(try bench.exchange() == [])
        #expect(bench.sent == [.hello(client: "jacquard2mqtt", major: 1, minor: 14)])
        #expect(try bench.receive(SessionBench.helloResponse) == [])
        #expect(try bench.receive(.deviceInfoResponse(SessionBench.info)) == [])
        #expect(
            bench.sent.dropFirst() == [
                .deviceInfo, .subscribeAdvertisements(flags: 1), .subscribeConnectionsFree, SessionBench.probe,
            ])
        let free = ProxyMessage.connectionsFree(free: 3, limit: 3, allocated: [])
        #expect(try bench.receive(free) == [.received(free)])
        #expect(!bench.session.isOpen)
        // Firmware that does not send the scanner's state responds to the request that cannot have an effect.
        #expect(try bench.receive(SessionBench.probeResponse) == [.opened(SessionBench.info)])
        #expect(bench.session.isOpen)
    }

    @Test("sends nothing of the client before it is open, and nothing after its end")
    func order() throws {
        var bench = try SessionBench()
        bench.session.send(.getServices(5))
        _ = try bench.exchange()
        #expect(bench.sent == [.hello(client: "jacquard2mqtt", major: 1, minor: 14)])
        var open = try SessionBench.open()
        open.session.send(.getServices(5))
        _ = try open.exchange()
        #expect(open.sent == [.getServices(5)])
        open.session.close()
        _ = try open.exchange()
        #expect(open.sent == [.getServices(5), .disconnect])
        open.session.send(.getServices(6))
        #expect(open.session.takeOutput() == [])
        #expect(open.session.deadline == nil)
        #expect(try open.receive(.scannerState(.idle)) == [])
    }

    @Test("ends if the proxy holds another subscription, without a second attempt")
    func taken() throws {
        var bench = try SessionBench()
        _ = try bench.exchange()
        _ = try bench.receive(SessionBench.helloResponse)
        _ = try bench.receive(.deviceInfoResponse(SessionBench.info))
        _ = try bench.receive(.connectionsFree(free: 1, limit: 3, allocated: [7, 8]))
        #expect(try bench.pass(.milliseconds(2999)) == [])
        #expect(try bench.pass(.milliseconds(1)) == [.ended(.taken(wasOurs: false))])
        #expect(bench.sent.count { $0 == .subscribeAdvertisements(flags: 1) } == 1)
    }

    @Test("notices within 13 s that another client has taken the proxy, while pings are answered")
    func takenOver() throws {
        var bench = try SessionBench.open()
        #expect(try bench.pass(.seconds(10)) == [])
        // It was served since the start of the session, so it only pings.
        #expect(bench.sent == [.ping])
        _ = try bench.receive(.pingResponse)
        #expect(try bench.pass(.seconds(10)) == [])
        #expect(bench.sent == [.ping, .ping, SessionBench.probe])
        _ = try bench.receive(.pingResponse)
        #expect(try bench.pass(.milliseconds(2999)) == [])
        #expect(try bench.pass(.milliseconds(1)) == [.ended(.taken(wasOurs: true))])
    }

    @Test("asks only a quiet proxy whether it is served")
    func probing() throws {
        var bench = try SessionBench.open()
        for _ in 0..<3 {
            _ = try bench.pass(.seconds(10))
            _ = try bench.receive(.pingResponse)
            _ = try bench.receive(.advertisements([]))
        }
        #expect(bench.sent == [.ping, .ping, .ping])
        _ = try bench.pass(.seconds(20))
        #expect(!bench.sent.contains(SessionBench.probe))
        var quiet = try SessionBench.open()
        for _ in 0..<4 {
            _ = try quiet.pass(.seconds(10))
            _ = try quiet.receive(.pingResponse)
            #expect(try quiet.receive(SessionBench.probeResponse) == [])
        }
        #expect(quiet.session.isOpen)
    }

    @Test("pings every 10 s; after 3 s of silence with three unanswered pings the proxy is lost")
    func silence() throws {
        var bench = try SessionBench.open()
        #expect(try bench.pass(.milliseconds(9999)) == [])
        #expect(bench.sent == [])
        #expect(try bench.pass(.milliseconds(3000)) == [])
        #expect(bench.sent == [.ping, .ping, .ping])
        #expect(try bench.pass(.milliseconds(1)) == [.ended(.silent)])
    }

    @Test("counts any message as a sign of life")
    func life() throws {
        var bench = try SessionBench.open()
        #expect(try bench.pass(.milliseconds(12_500)) == [])
        #expect(bench.sent == [.ping, .ping, .ping])
        _ = try bench.receive(.value(5, handle: 3, [1]))
        #expect(try bench.pass(.seconds(9)) == [])
        #expect(bench.sent.count == 3)
        #expect(try bench.pass(.seconds(1)) == [])
        #expect(bench.sent.count == 4)
    }

    @Test("answers the proxy's pings and its end")
    func answers() throws {
        var bench = try SessionBench.open()
        #expect(try bench.receive(.ping) == [])
        #expect(bench.sent == [.pingResponse])
        #expect(try bench.receive(.disconnect) == [.ended(.closed)])
        #expect(bench.sent == [.pingResponse, .disconnectResponse])
    }

    @Test("ends if the proxy does not respond within 10 s at any step")
    func opensSlowly() throws {
        var handshake = try SessionBench()
        _ = handshake.session.takeOutput()
        #expect(try handshake.pass(.seconds(10)) == [.ended(.silent)])
        var hello = try SessionBench()
        _ = try hello.exchange()
        #expect(try hello.pass(.seconds(10)) == [.ended(.silent)])
        var info = try SessionBench()
        _ = try info.exchange()
        _ = try info.receive(SessionBench.helloResponse)
        #expect(try info.pass(.milliseconds(9999)) == [])
        #expect(try info.pass(.milliseconds(1)) == [.ended(.silent)])
    }

    @Test("refuses a proxy with another version, or without connections")
    func unsuitable() throws {
        var version = try SessionBench()
        _ = try version.exchange()
        let events = try version.receive(.helloResponse(major: 2, minor: 0, server: "", name: "loft"))
        #expect(events == [.ended(.unsuitable("the proxy has version 2 of the API; 1 is supported"))])
        var passive = try SessionBench()
        _ = try passive.exchange()
        _ = try passive.receive(SessionBench.helloResponse)
        var info = SessionBench.info
        info.features = .rawAdvertisements
        #expect(try passive.receive(.deviceInfoResponse(info)) == [.ended(.connectsNothing)])
        var old = try SessionBench()
        _ = try old.exchange()
        _ = try old.receive(SessionBench.helloResponse)
        info.features = .connections
        let tooOld = ProxyError.unsuitable("the proxy's firmware is too old")
        #expect(try old.receive(.deviceInfoResponse(info)) == [.ended(tooOld)])
        var bare = try SessionBench()
        _ = try bare.exchange()
        _ = try bare.receive(SessionBench.helloResponse)
        info.features = []
        #expect(try bare.receive(.deviceInfoResponse(info)) == [.ended(.noProxy)])
    }

    @Test("ends with the first bytes that are no message, and reads no more")
    func malformed() throws {
        var bench = try SessionBench.open()
        try bench.proxy.send(FrameChannel.Message(type: 69, body: [0x0A, 5]))
        try bench.proxy.send(ProxyMessage.scannerState(.idle).frame)
        let events = try bench.exchange()
        guard events.count == 1, case .ended(.malformed) = events[0] else {
            Issue.record("\(events)")
            return
        }
    }
}
