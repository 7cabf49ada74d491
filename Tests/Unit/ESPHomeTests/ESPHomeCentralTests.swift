import Bluetooth
import EventLoop
import FakeProxy
import JacquardProtocol
import Logging
import Simulator
import TagFirmware
import TestSupport
import Testing

@testable import ESPHome

@Suite("A central over TCP")
struct ESPHomeCentralTests {
    private static let one = RadioBench.address(1)
    private static let two = RadioBench.address(2)
    private static let command = RadioBench.uuid(TagCharacteristic.command.uuid)

    @Test("connects a tag, receives its gestures and writes to it, encrypted and plain", arguments: [true, false])
    func life(isEncrypted: Bool) async throws {
        let key = isEncrypted ? ProxyBench.key : nil
        try await onLoop {
            let bench = try ProxyBench(clientKey: key, proxyKey: key)
            try await bench.start()
            try await bench.open(1)
            #expect(bench.events.contains("mtu 1 247"))
            try bench.tags[0].execute(.play(Burst(.gesture(.doubleTap), count: 3)))
            try await until("gestures") { bench.values.count >= 3 }
            bench.clear()
            for type in [WriteType.withResponse, .withoutResponse] {
                bench.central.perform(.write([0, 0], to: Self.command, of: Self.one, type))
            }
            try await bench.wait("written 1", 2)
            bench.central.perform(.disconnect(Self.one))
            try await bench.wait("disconnected 1 -")
            await bench.stop()
            #expect(bench.tags[0].firmware.isConnected == false)
        }
    }

    @Test("scans, and connects a tag again after its link is lost")
    func reconnecting() async throws {
        try await onLoop {
            let bench = try ProxyBench()
            bench.central.perform(.scan(ProxyBench.service))
            try await bench.start()
            try await until("both tags") { bench.heard.count == 2 }
            try await bench.open(1)
            bench.tags[0].setInRange(false)
            try await bench.wait("disconnected 1 connectionFailed")
            bench.central.perform(.connect(Self.one))
            bench.tags[0].setInRange(true)
            try await bench.wait("connected 1", 2)
            await bench.stop()
        }
    }

    @Test("a proxy that closes the connection loses its links, and is connected again by itself")
    func dropped() async throws {
        try await onLoop {
            let bench = try ProxyBench()
            try await bench.start()
            try await bench.open(1)
            bench.clear()
            bench.proxy.inject(.drop)
            try await bench.wait("state resetting")
            #expect(bench.events == ["disconnected 1 connectionFailed", "state resetting"])
            #expect(bench.central.status == .waiting(.closed, .seconds(1)))
            bench.central.perform(.connect(Self.one))
            try await bench.wait("connected 1")
            await bench.stop()
        }
    }

    @Test("an examination reads the properties of a proxy, or the reason of a failure, and its client keeps it")
    func examination() async throws {
        try await onLoop {
            let bench = try ProxyBench(clientKey: ProxyBench.key, proxyKey: ProxyBench.key)
            try await bench.start()
            try await bench.open(1)
            func result(_ key: NoiseKey?) async -> Result<ProxyInfo, ProxyError> {
                await ProxyExamination.result(
                    of: .init(host: "127.0.0.1", port: bench.port.number, name: "loft", key: key), within: .seconds(10))
            }
            let info = try await result(ProxyBench.key).get()
            #expect(info.name == "simulated")
            #expect(await result(nil) == .failure(.encryptionRequired))
            #expect(await result(NoiseKey([UInt8](repeating: 6, count: 32))) == .failure(.wrongKey))
            #expect(!bench.events.contains { $0.hasPrefix("disconnected") })
            guard case .ready = bench.central.status else {
                Issue.record("the client has lost the proxy")
                return
            }
            await bench.stop()
        }
    }

    @Test("a proxy that does not listen yet is connected later")
    func late() async throws {
        try await onLoop {
            let bench = try ProxyBench()
            bench.central.start()
            try await bench.waitForStatus { if case .waiting(.network, _) = $0 { true } else { false } }
            try bench.proxy.start(port: bench.port.number)
            try await bench.wait("state poweredOn")
            await bench.stop()
        }
    }

    @Test("another key, a missing key and a needless key are errors of their own, and no log contains a key")
    func keys() async throws {
        try await onLoop {
            let other = NoiseKey([UInt8](repeating: 6, count: 32))
            let cases: [(client: NoiseKey?, proxy: NoiseKey?, error: ProxyError)] = [
                (other, ProxyBench.key, .wrongKey), (nil, ProxyBench.key, .encryptionRequired),
                (ProxyBench.key, nil, .notEncrypted),
            ]
            for one in cases {
                let bench = try ProxyBench(clientKey: one.client, proxyKey: one.proxy)
                try bench.proxy.start(port: bench.port.number)
                bench.central.start()
                try await bench.waitForStatus { if case .waiting = $0 { true } else { false } }
                guard case .waiting(let error, let pause)? = bench.statuses.last else { return }
                #expect(error == one.error)
                #expect(pause == .seconds(60))
                #expect(bench.events == ["state unauthorized"])
                #expect(!bench.sink.records.contains { "\($0)".contains("BQUF") || "\($0)".contains("BgYG") })
                await bench.stop()
            }
        }
    }

    @Test("a proxy that refuses the subscription is taken, and tried again after a minute")
    func taken() async throws {
        try await onLoop {
            var options = ProxyOptions.quick
            options.servesNewest = false
            let bench = try ProxyBench(options)
            bench.proxy.inject(.taken)
            try bench.proxy.start(port: bench.port.number)
            bench.central.start()
            try await bench.waitForStatus { $0 == .waiting(.taken(wasOurs: false), .seconds(60)) }
            #expect(bench.events == ["state resetting"])
            await bench.stop()
        }
    }

    @Test("a tag waits while the proxy has one link, until the other tag has left it")
    func oneSlot() async throws {
        try await onLoop {
            let bench = try ProxyBench()
            bench.proxy.inject(.slots(1))
            try await bench.start()
            try await bench.open(1)
            bench.central.perform(.connect(Self.two))
            try await until("no free link") { bench.central.freeLinks == 0 }
            bench.central.perform(.disconnect(Self.one))
            try await bench.wait("connected 2")
            #expect(bench.events.filter { $0.hasPrefix("connected") || $0.hasPrefix("disconnected") }.count == 3)
            await bench.stop()
        }
    }

    @Test("a tag that requires a bond is subscribed after its own pairing, and is known to be bonded")
    func bonding() async throws {
        try await onLoop {
            var tagOptions = TagOptions()
            tagOptions.wantsPairing = true
            let bench = try ProxyBench(tagOptions: tagOptions)
            var requests: [ProxyMessage] = []
            bench.proxy.onMessage = { requests.append($0) }
            try await bench.start()
            try await bench.open(1)
            #expect(bench.bonds.last == [Self.one])
            #expect(bench.events.contains("paired 1"))
            let pair = ProxyMessage.device(Self.one.number, .pair, addressType: nil)
            #expect(!requests.contains(pair))
            bench.central.perform(.forget(Self.one))
            try await bench.wait("forgotten 1 -")
            #expect(bench.bonds.last == [])
            #expect(bench.proxy.bonds == [])
            await bench.stop()
        }
    }

    @Test("a tag that has lost its bond is reported so")
    func lostBond() async throws {
        try await onLoop {
            var tagOptions = TagOptions()
            tagOptions.wantsPairing = true
            let bench = try ProxyBench(tagOptions: tagOptions, bonds: [Self.one])
            try await bench.start()
            try await bench.open(1)
            bench.proxy.lostBonds = [Self.one.description]
            bench.central.perform(.disconnect(Self.one))
            try await bench.wait("disconnected 1 -")
            bench.central.perform(.connect(Self.one))
            try await bench.wait("disconnected 1 authenticationFailed")
            #expect(bench.bonds.last == [])
            await bench.stop()
        }
    }

    @Test("a name that cannot be resolved does not block the loop")
    func unknownName() async throws {
        try await onLoop {
            // No name server is asked for a label of 64 bytes.
            let host = String(repeating: "n", count: 64) + ".invalid"
            let central = ESPHomeCentral(
                ESPHomeCentral.Configuration(host: host, name: "loft", key: nil),
                log: Logger("esphome", to: MemorySink()))
            var statuses: [ESPHomeCentral.Status] = []
            central.onStatus = { statuses.append($0) }
            central.start()
            #expect(statuses == [.connecting])
            try await until("an error") { statuses.count == 2 }
            guard case .waiting(.network, _)? = statuses.last else {
                Issue.record("\(statuses)")
                return
            }
            await central.stop()
        }
    }
}
