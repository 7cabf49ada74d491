import Bluetooth
import Testing
import Time

@testable import ESPHome

/// Without a subscription, a proxy sends no advertisements, and has no links.
@Suite("The subscription to a proxy")
struct ProxySubscriptionTests {
    private let one = RadioBench.address(1)

    @Test("ends when the proxy has had nothing to do for 30 s, and begins with the next scan")
    func scan() {
        var bench = RadioBench()
        bench.pass(.milliseconds(29_999))
        #expect(bench.take() == [])
        bench.pass(.milliseconds(1))
        #expect(bench.take() == ["> unsubscribe"])
        #expect(bench.radio.deadline == nil)
        bench.ask(.watch(RadioBench.service))
        #expect(bench.take() == [])
        bench.ask(.scan(RadioBench.service))
        #expect(bench.take() == ["> subscribe", "scanning true"])
        bench.pass(.seconds(100))
        #expect(bench.take() == [])
        bench.ask(.scan(nil))
        bench.pass(.seconds(20))
        bench.ask(.scan(RadioBench.service))
        bench.ask(.scan(nil))
        bench.pass(.milliseconds(29_999))
        #expect(bench.take() == ["scanning false", "scanning true", "scanning false"])
        bench.pass(.milliseconds(1))
        #expect(bench.take() == ["> unsubscribe"])
    }

    @Test("lasts as long as a link, or the attempt to make one")
    func link() {
        var bench = RadioBench()
        bench.pass(.seconds(30))
        #expect(bench.take() == ["> unsubscribe"])
        bench.ask(.connect(one))
        #expect(bench.take() == ["> subscribe"])
        bench.pass(.seconds(100))
        bench.advertise(1)
        bench.receive(.connection(RadioBench.number(1), isConnected: true, mtu: 247, error: 0))
        bench.pass(.seconds(100))
        #expect(bench.take() == ["> connect 1 type 1", "connected 1", "mtu 1 247"])
        bench.receive(.connection(RadioBench.number(1), isConnected: false, mtu: 0, error: 8))
        bench.pass(.seconds(30))
        #expect(bench.take() == ["disconnected 1 connectionFailed", "> unsubscribe"])
    }

    @Test("is there for the removal of a bond")
    func forgetting() {
        var bench = RadioBench(bonds: [one])
        bench.pass(.seconds(30))
        #expect(bench.take() == ["> unsubscribe"])
        bench.ask(.forget(one))
        #expect(bench.take().first == "> subscribe")
        bench.receive(.unpaired(RadioBench.number(1), isRemoved: true, error: 0))
        bench.pass(.seconds(30))
        #expect(bench.take().last == "> unsubscribe")
    }

    @Test("is that of the session: a new one is subscribed, and has its own 30 s")
    func sessions() {
        var bench = RadioBench()
        bench.pass(.seconds(30))
        bench.close()
        bench.pass(.seconds(100))
        _ = bench.take()
        bench.radio.opened(SessionBench.info, at: bench.now)
        #expect(bench.radio.takeEffects().isSubscribed == nil)
        bench.pass(.milliseconds(29_999))
        #expect(!bench.take().contains("> unsubscribe"))
        bench.pass(.milliseconds(1))
        #expect(bench.take() == ["> unsubscribe"])
    }

    @Test("is not asked for while there is none: the session pings only")
    func quiet() throws {
        var bench = try SessionBench.open()
        bench.session.setSubscribed(true, at: bench.now)
        #expect(try bench.exchange() == [])
        #expect(bench.sent == [])
        bench.session.setSubscribed(false, at: bench.now)
        #expect(try bench.exchange() == [])
        #expect(bench.sent == [.unsubscribeAdvertisements])
        for _ in 0..<4 {
            #expect(try bench.pass(.seconds(10)) == [])
            _ = try bench.receive(.pingResponse)
        }
        #expect(bench.sent.dropFirst() == [.ping, .ping, .ping, .ping])
    }

    @Test("begins again, unless the connection was lost since the last ping: no other client has the proxy then")
    func lostMeanwhile() throws {
        var bench = try SessionBench.open()
        bench.session.setSubscribed(false, at: bench.now)
        _ = try bench.pass(.seconds(2))
        bench.session.setSubscribed(true, at: bench.now)
        var ended: [ProxySession.Event] = []
        for _ in 0..<10 where ended.isEmpty { ended = try bench.pass(.seconds(1)) }
        #expect(ended == [.ended(.silent)])
        #expect(bench.sent.count { $0 == .ping } == 3)
    }

    @Test("begins again, unless another client has taken the proxy", arguments: [true, false])
    func again(isServed: Bool) throws {
        var bench = try SessionBench.open()
        bench.session.setSubscribed(false, at: bench.now)
        _ = try bench.pass(.seconds(5))
        bench.session.setSubscribed(true, at: bench.now)
        bench.session.send(.getServices(5))
        #expect(try bench.exchange() == [])
        #expect(
            bench.sent.dropFirst() == [
                .subscribeAdvertisements(flags: 1), .subscribeConnectionsFree, SessionBench.probe, .ping,
                .getServices(5),
            ])
        _ = try bench.receive(.pingResponse)
        if isServed { _ = try bench.receive(.scannerState(.running)) }
        #expect(try bench.pass(.milliseconds(2999)) == [])
        #expect(try bench.pass(.milliseconds(1)) == (isServed ? [] : [.ended(.taken(wasOurs: true))]))
    }
}
