import Bluetooth
import Testing
import Time

@testable import ESPHome

/// The rules of a central over a proxy, as a transcript: what it is asked and receives, and what follows.
struct RadioBench {
    static let service = uuid("d2f2bf0d-d165-4c10-9ec2-e0dec6d8a7b1")
    static let value = uuid("00000000-0000-0001-0000-000000000002")
    var radio: ProxyRadio
    var now = Instant(sinceBoot: .seconds(1000))
    /// Events and messages in the order in which they follow, without adapters and advertisements.
    private(set) var log: [String] = []
    private(set) var adapters: [Adapter] = []
    private(set) var heard: [Advertisement] = []

    /// - Parameters:
    ///   - bonds: known bonds.
    ///   - free: the number of free links.
    init(bonds: Set<BluetoothAddress> = [], free: UInt32 = 3) {
        radio = ProxyRadio(name: "loft", bonds: bonds)
        var info = SessionBench.info
        info.bluetoothAddress = "AA:BB:CC:DD:EE:01"
        radio.opened(info, at: now)
        radio.receive(.connectionsFree(free: free, limit: 3, allocated: []), at: now)
        note()
        log = []
    }

    static func uuid(_ text: String) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(text) else { preconditionFailure("no UUID: \(text)") }
        return uuid
    }

    static func address(_ number: UInt64) -> BluetoothAddress { BluetoothAddress(number: 0xF000_0000_0000 + number) }

    static func number(_ number: UInt64) -> UInt64 { 0xF000_0000_0000 + number }

    mutating func ask(_ request: CentralRequest) {
        radio.perform(request, at: now)
        note()
    }

    mutating func receive(_ message: ProxyMessage) {
        radio.receive(message, at: now)
        note()
    }

    /// Lets time pass, at each deadline.
    mutating func pass(_ time: Duration) {
        let end = now + time
        while let deadline = radio.deadline, deadline <= end {
            now = max(now, deadline)
            radio.timeReached(at: now)
            note()
        }
        now = end
    }

    mutating func close(_ state: CentralState = .resetting) {
        radio.closed(state, BluetoothError(.connectionFailed, text: "the radio is lost"))
        note()
    }

    /// Returns and forgets the log.
    mutating func take() -> [String] {
        defer { log = [] }
        return log
    }

    /// A device's advertisement.
    mutating func advertise(_ device: UInt64, rssi: Int32 = -60) {
        let service: [UInt8] = [17, 0x07] + Self.littleEndian(Self.service)
        receive(
            .advertisements([
                RawAdvertisement(
                    address: Self.number(device), rssi: rssi, addressType: 1, data: [2, 1, 6] + service)
            ]))
    }

    /// Connects a device.
    mutating func link(_ device: UInt64) {
        ask(.connect(Self.address(device)))
        advertise(device)
        receive(.connection(Self.number(device), isConnected: true, mtu: 247, error: 0))
        log = []
    }

    /// Connects a device and discovers its characteristic.
    mutating func open(_ device: UInt64) {
        link(device)
        ask(.discover(Self.service, characteristics: [Self.value], of: Self.address(device)))
        receive(.services(Self.number(device), [ProxyMessageTests.jacquard]))
        receive(.servicesDone(Self.number(device)))
        log = []
    }

    private static func littleEndian(_ uuid: BluetoothUUID) -> [UInt8] {
        [uuid.low, uuid.high].flatMap { part in (0..<8).map { UInt8(truncatingIfNeeded: part >> (8 * $0)) } }
    }

    private mutating func note() {
        let effects = radio.takeEffects()
        if let isSubscribed = effects.isSubscribed { log.append(isSubscribed ? "> subscribe" : "> unsubscribe") }
        log += effects.messages.map { "> " + Self.text($0) }
        for event in effects.events {
            switch event {
            case .adaptersChanged(let all): adapters = all
            case .discovered(_, let advertisement): heard.append(advertisement)
            default: log.append(Self.text(event))
            }
        }
    }

    private static func text(_ message: ProxyMessage) -> String {
        switch message {
        case .device(let number, let request, let type):
            "\(request) \(number - Self.number(0))" + (type.map { " type \($0)" } ?? "")
        case .getServices(let number): "services \(number - Self.number(0))"
        case .notify(let number, let handle, let isOn): "notify \(number - Self.number(0)) \(handle) \(isOn)"
        case .writeDescriptor(let number, let handle, let value):
            "descriptor \(number - Self.number(0)) \(handle) \(value)"
        case .write(let number, let handle, let withResponse, let value):
            "write \(number - Self.number(0)) \(handle) \(withResponse ? "request" : "command") \(value)"
        default: "\(message)"
        }
    }

    private static func short(_ address: BluetoothAddress) -> UInt64 { address.number - number(0) }

    static func text(_ event: CentralEvent) -> String {
        switch event {
        case .stateChanged(let state): "state \(state)"
        case .scanning(let isOn): "scanning \(isOn)"
        case .bonds(let all): "bonds \(all.map(short).sorted())"
        case .connected(let address): "connected \(short(address))"
        case .disconnected(let address, let error):
            "disconnected \(short(address)) \(error.map { "\($0.code)" } ?? "-")"
        case .paired(let address): "paired \(short(address))"
        case .pairFailed(let address, let error): "pairFailed \(short(address)) \(error.code)"
        case .forgotten(let address, let error): "forgotten \(short(address)) \(error.map { "\($0.code)" } ?? "-")"
        case .characteristicsDiscovered(let address, let found): "discovered \(short(address)) \(found.count)"
        case .discoveryFailed(let address, let error): "discoveryFailed \(short(address)) \(error.code)"
        case .mtuChanged(let address, let mtu): "mtu \(short(address)) \(mtu)"
        case .subscribed(let address, _): "subscribed \(short(address))"
        case .subscribeFailed(let address, _, let error): "subscribeFailed \(short(address)) \(error.code)"
        case .written(let address): "written \(short(address))"
        case .writeFailed(let address, let error): "writeFailed \(short(address)) \(error.code)"
        case .notified(let address, _, let value): "notified \(short(address)) \(value)"
        default: "\(event)"
        }
    }
}
