import Bluetooth
import EventLoop
import FakeProxy
import JacquardProtocol
import Logging
import Simulator
import TagFirmware
import TestSupport
import Testing
import Text

@testable import ESPHome

/// A central, a fake proxy and simulated tags, over TCP.
@LoopActor
final class ProxyBench {
    let port: ReservedPort
    let tags: [SimulatedTag]
    let proxy: ProxyServer
    let central: ESPHomeCentral
    let sink = MemorySink(level: .debug)
    /// The events of the central, such as `connected 1`. Adapters and advertisements are recorded separately.
    private(set) var events: [String] = []
    private(set) var bonds: [Set<BluetoothAddress>] = []
    private(set) var heard: [BluetoothAddress: Int] = [:]
    private(set) var values: [[UInt8]] = []
    private(set) var statuses: [ESPHomeCentral.Status] = []
    /// Called with each event.
    var onEvent: ((CentralEvent) -> Void)?

    nonisolated static let key = NoiseKey([UInt8](repeating: 5, count: 32))
    nonisolated static let service = RadioBench.uuid(JacquardService.uuid)
    nonisolated static let all = TagCharacteristic.allCases.map { RadioBench.uuid($0.uuid) }

    init(
        _ options: ProxyOptions = .quick, clientKey: NoiseKey? = key, proxyKey: NoiseKey? = key, tags count: Int = 2,
        tagOptions: TagOptions = TagOptions(), bonds: Set<BluetoothAddress> = []
    ) throws {
        port = try ReservedPort()
        tags = (1...count).compactMap { number in
            guard let serial = PairingSerial("000\(number)") else { return nil }
            var tagOptions = tagOptions
            tagOptions.supervisionTimeout = .milliseconds(50)
            return SimulatedTag(
                Firmware(FirmwareIdentity(serial: serial), gear: SimulatedGear(word: "jacket")),
                address: RadioBench.address(UInt64(number)).description, options: tagOptions)
        }
        var options = options
        options.key = proxyKey
        proxy = ProxyServer(tags, options: options, log: Logger("proxy", to: MemorySink()))
        central = ESPHomeCentral(
            ESPHomeCentral.Configuration(host: "127.0.0.1", port: port.number, name: "loft", key: clientKey),
            bonds: bonds, log: Logger("esphome", to: sink))
        central.onEvent = { [weak self] in self?.note($0) }
        central.onStatus = { [weak self] in self?.statuses.append($0) }
    }

    /// Starts both, and waits until the proxy serves the client.
    func start() async throws {
        try proxy.start(port: port.number)
        central.start()
        try await wait("state poweredOn")
    }

    func stop() async {
        await central.stop()
        proxy.stop()
    }

    /// Connects a tag, discovers its service and subscribes.
    func open(_ number: UInt64) async throws {
        let address = RadioBench.address(number)
        central.perform(.connect(address))
        try await wait("connected \(number)")
        central.perform(.discover(Self.service, characteristics: Self.all, of: address))
        try await wait("discovered \(number) 4")
        for id in TagCharacteristic.notifying { central.perform(.subscribe(RadioBench.uuid(id.uuid), of: address)) }
        try await wait("subscribed \(number)", 3)
    }

    func wait(_ event: String, _ count: Int = 1) async throws {
        do {
            try await until("\(count) x \(event)") { [unowned self] in events.count { $0 == event } >= count }
        } catch {
            Issue.record("no \(event) after \(events)")
            throw error
        }
    }

    func waitForStatus(_ matches: @escaping @Sendable (ESPHomeCentral.Status) -> Bool) async throws {
        try await until("status, after \(statuses)") { [unowned self] in statuses.contains(where: matches) }
    }

    func clear() {
        events = []
        statuses = []
    }

    private func note(_ event: CentralEvent) {
        onEvent?(event)
        switch event {
        case .adaptersChanged, .scanning: break
        case .discovered(let address, _), .remembered(let address, _): heard[address, default: 0] += 1
        case .bonds(let all): bonds.append(all)
        case .notified(_, _, let value): values.append(value)
        default: events.append(RadioBench.text(event))
        }
    }
}
