import Bluetooth
import Time

@testable import ESPHome

/// Requests, messages of a proxy and time in any order: the promises of `Central` hold, and nothing grows without a bound.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = Input(start, count)
    var run = RadioRun()
    while !input.isAtEnd { run.step(&input) }
    run.finish()
    return 0
}

/// A radio with the requests that have no result yet.
private struct RadioRun {
    private static let service = ProxyService.ID(high: 1, low: 1)
    private static let characteristic = ProxyService.ID(high: 1, low: 2)
    private var radio = ProxyRadio(name: "loft")
    private var now = Instant(sinceBoot: .seconds(100))
    private var isOpen = false
    /// Devices with a requested or existing link.
    private var wanted: Set<BluetoothAddress> = []
    private var linked: Set<BluetoothAddress> = []
    /// Requests of the present link without a result.
    private var searches: [BluetoothAddress: Int] = [:]
    private var subscriptions: [BluetoothAddress: Int] = [:]
    private var writes: [BluetoothAddress: Int] = [:]
    private var forgets: [BluetoothAddress: Int] = [:]

    mutating func step(_ input: inout Input) {
        let number = UInt64(input.byte() % 3) + 2
        let address = BluetoothAddress(number: number)
        let id = BluetoothUUID(Self.characteristic)
        switch input.byte() % 24 {
        case 0:
            if !isOpen { radio.opened(ProxyInfo(), at: now) }
            isOpen = true
        case 1:
            if isOpen { radio.closed(.resetting, BluetoothError(.connectionFailed, text: "lost")) }
            isOpen = false
        case 2:
            wanted.insert(address)
            radio.perform(.connect(address), at: now)
        case 3: radio.perform(.disconnect(address), at: now)
        case 4: radio.perform(.pair(address), at: now)
        case 5:
            forgets[address, default: 0] += 1
            radio.perform(.forget(address), at: now)
        case 6:
            searches[address, default: 0] += 1
            let service = BluetoothUUID(Self.service)
            radio.perform(.discover(service, characteristics: [id], of: address), at: now)
        case 7:
            subscriptions[address, default: 0] += 1
            radio.perform(.subscribe(id, of: address), at: now)
        case 8:
            writes[address, default: 0] += 1
            radio.perform(.write([1], to: id, of: address, input.pick([.withResponse, .withoutResponse])), at: now)
        case 9: now += .milliseconds(Int(input.byte()) * 40)
        case 10: if let deadline = radio.deadline { now = max(now, deadline) }
        default: receive(&input, number)
        }
        take()
        if let deadline = radio.deadline, deadline <= now {
            radio.timeReached(at: now)
            take()
            require(radio.deadline.map { $0 > now } ?? true, "a deadline that stays")
        }
        check()
    }

    private mutating func receive(_ input: inout Input, _ number: UInt64) {
        guard isOpen else { return }
        let handle = UInt32(input.byte() % 4)
        let error = Int32(input.pick([0, 3, 5, 8, 0x13, 0x8F] as [UInt8]))
        let message: ProxyMessage =
            switch input.byte() % 13 {
            case 0, 1:
                .advertisements([
                    RawAdvertisement(address: number, rssi: -50, addressType: 1, data: [2, 1, 6])
                ])
            case 2: .connection(number, isConnected: true, mtu: UInt32(input.byte()), error: 0)
            case 3: .connection(number, isConnected: false, mtu: 0, error: error)
            case 4: .connectionsFree(free: handle, limit: 3, allocated: handle == 0 ? [number] : [])
            case 5: .services(number, [table])
            case 6: .servicesDone(number)
            case 7: .written(number, handle: handle)
            case 8: .notifySet(number, handle: handle)
            case 9: .failed(number, handle: handle, error: error)
            case 10: .value(number, handle: handle, [1])
            case 11: .paired(number, isPaired: handle > 1, error: 0)
            default: .unpaired(number, isRemoved: true, error: 0)
            }
        radio.receive(message, at: now)
    }

    private var table: ProxyService {
        ProxyService(
            id: Self.service, handle: 1,
            characteristics: [
                ProxyService.Characteristic(
                    id: Self.characteristic, handle: 2, properties: 0x1C,
                    descriptors: [ProxyService.Descriptor(id: .clientConfiguration, handle: 3)])
            ])
    }

    /// Counts the results.
    private mutating func take() {
        for event in radio.takeEffects().events {
            switch event {
            case .connected(let address):
                require(wanted.contains(address) && linked.insert(address).inserted, "connected without a request")
                (searches[address], subscriptions[address], writes[address]) = (nil, nil, nil)
            case .disconnected(let address, _):
                require(wanted.remove(address) != nil, "disconnected without a request")
                linked.remove(address)
                (searches[address], subscriptions[address], writes[address]) = (nil, nil, nil)
            case .characteristicsDiscovered(let address, _), .discoveryFailed(let address, _): end(&searches, address)
            case .subscribed(let address, _), .subscribeFailed(let address, _, _): end(&subscriptions, address)
            case .written(let address), .writeFailed(let address, _): end(&writes, address)
            case .forgotten(let address, _): end(&forgets, address)
            case .notified(let address, _, _), .mtuChanged(let address, _):
                require(linked.contains(address), "an event without a link")
            default: break
            }
        }
    }

    private func end(_ requests: inout [BluetoothAddress: Int], _ address: BluetoothAddress) {
        require(requests[address] ?? 0 > 0, "a result without a request")
        requests[address]? -= 1
    }

    private func check() {
        require(Set(radio.links.keys) == wanted, "links without a request, or requests without a link")
        require(radio.received.count <= ProxyRadio.mostReceived, "too many devices")
        require(isOpen || linked.isEmpty, "a link without a proxy")
    }

    /// Lets all deadlines pass: each request of a link has its result then.
    mutating func finish() {
        var turns = 0
        while let deadline = radio.deadline {
            now = max(now, deadline)
            radio.timeReached(at: now)
            take()
            turns += 1
            require(turns < 10_000, "deadlines without an end")
        }
        for address in linked {
            require(searches[address] ?? 0 == 0, "a search without a result")
            require(subscriptions[address] ?? 0 == 0, "a subscription without a result")
            require(writes[address] ?? 0 == 0, "a write without a result")
        }
        for (_, count) in forgets { require(count == 0, "a removal without a result") }
    }
}
