import ESPHome
import EventLoop
import FakeBlueZ

/// A slot of the fake proxy: a device from the request to connect it until the slot is free.
@LoopActor
final class ProxyDeviceLink: PeripheralLink {
    /// `ESP_GATT_NOT_CONNECTED`.
    static let notConnected: Int32 = 0x8A
    private static let insufficientAuthentication: Int32 = 5
    private static let writeNotPermitted: Int32 = 3
    private static let terminatedByHost: Int32 = 0x16
    private static let terminatedByDevice: Int32 = 0x13
    private static let supervisionTimeout: Int32 = 0x08
    private static let keyMissing: Int32 = 0x06

    private enum Phase {
        case connecting
        case linked
        case releasing
    }

    /// A characteristic with its handles.
    private struct Row {
        let uuid: String
        let handle: UInt32
        let flags: [String]
        var configuration: UInt32 { handle + 1 }
        var canNotify: Bool { flags.contains("notify") }
    }

    let number: UInt64
    private let peripheral: (any SimulatedPeripheral)?
    private unowned let server: ProxyServer
    private var phase = Phase.connecting
    private var isEncrypted = false
    private var isPairing = false
    private var areServicesSent = false
    private var rows: [Row] = []
    /// Handles of characteristics whose values are passed on.
    private var notified: Set<UInt32> = []
    private var enabled: Set<String> = []
    private var timers: [LoopTimer] = []
    private lazy var stepTimer = LoopTimer { [unowned self] in look() }
    private lazy var limitTimer = LoopTimer { [unowned self] in end(error: 0x85) }
    private lazy var pairingTimer = LoopTimer { [unowned self] in pairingEnded() }

    init(_ number: UInt64, _ peripheral: (any SimulatedPeripheral)?, of server: ProxyServer) {
        self.number = number
        self.peripheral = peripheral
        self.server = server
        limitTimer.arm(after: server.options.connectTimeout)
        stepTimer.arm(after: server.options.linkSetup)
    }

    /// The number of the proxy's radio.
    var adapterNumber: Int { server.options.adapterNumber }
    /// Whether the link is up.
    var isUp: Bool { phase == .linked }

    private var address: String { ProxyServer.text(number) }

    // MARK: The link

    /// Connects the device if it advertises now, otherwise later.
    private func look() {
        guard phase == .connecting else { return }
        guard let peripheral, peripheral.broadcast(at: adapterNumber) != nil else {
            return stepTimer.arm(after: server.options.advertisingInterval)
        }
        limitTimer.disarm()
        phase = .linked
        var handle: UInt32 = 0x20
        for service in peripheral.services {
            for characteristic in service.characteristics {
                rows.append(Row(uuid: characteristic.uuid, handle: handle + 2, flags: characteristic.flags))
                handle += 4
            }
            handle += 0x10
        }
        server.send(.connection(number, isConnected: true, mtu: UInt32(server.options.mtu), error: 0))
        server.sendConnectionsFree()
        peripheral.linked(self, mtu: Int(server.options.mtu))
        // The device requests the encryption, and ESPHome accepts.
        if peripheral.wantsPairing { beginPairing() }
    }

    /// Handles another request to connect: a link is reported again, an attempt continues.
    func connectAgain() {
        guard isUp else { return }
        server.send(.connection(number, isConnected: true, mtu: 0, error: 0))
        server.sendConnectionsFree()
    }

    /// Ends the link or the attempt at the request of a client.
    func disconnect() {
        end(error: Self.terminatedByHost)
    }

    func drop(because end: LinkDrop) {
        switch end {
        case .remote: self.end(error: Self.terminatedByDevice)
        case .timeout: self.end(error: Self.supervisionTimeout)
        case .local: self.end(error: Self.terminatedByHost)
        }
    }

    private func end(error: Int32) {
        guard phase != .releasing else { return }
        let wasUp = isUp
        phase = .releasing
        stepTimer.disarm()
        limitTimer.disarm()
        pairingTimer.disarm()
        timers = []
        if wasUp {
            peripheral?.unlinked()
            server.send(.connection(number, isConnected: false, mtu: 0, error: error))
        }
        let timer = LoopTimer { [weak self] in
            if let self { server.release(self, error: error) }
        }
        timer.arm(after: server.options.cleanUp)
        timers = [timer]
    }

    // MARK: Values

    func notify(_ value: [UInt8], on characteristic: String) -> NotifyOutcome {
        guard isUp, enabled.contains(characteristic), let row = rows.first(where: { $0.uuid == characteristic }),
            notified.contains(row.handle), !server.isSilent, server.subscriber != nil
        else { return .nobody }
        server.send(.value(number, handle: row.handle, value))
        return .delivered
    }

    /// Sends the services, once per link.
    func sendServices() {
        guard !areServicesSent else { return }
        areServicesSent = true
        let generic = ProxyService(id: ProxyService.ID(short: 0x1800), handle: 1, characteristics: [])
        server.send(.services(number, [generic]))
        for service in peripheral?.services ?? [] {
            let own = rows.filter { row in service.characteristics.contains { $0.uuid == row.uuid } }
            let characteristics = own.map { row in
                ProxyService.Characteristic(
                    id: ProxyAddress.id(row.uuid), handle: row.handle, properties: Self.properties(row.flags),
                    descriptors: row.canNotify
                        ? [ProxyService.Descriptor(id: .clientConfiguration, handle: row.configuration)] : [])
            }
            server.send(
                .services(
                    number,
                    [
                        ProxyService(
                            id: ProxyAddress.id(service.uuid), handle: (own.first?.handle ?? 2) - 2,
                            characteristics: characteristics)
                    ]))
        }
        server.send(.servicesDone(number))
    }

    private static func properties(_ flags: [String]) -> UInt32 {
        let bits: [String: UInt32] = ["read": 0x02, "write-without-response": 0x04, "write": 0x08, "notify": 0x10]
        return flags.reduce(0) { $0 | (bits[$1] ?? 0) }
    }

    func setNotify(_ handle: UInt32, _ isOn: Bool) {
        if isOn { notified.insert(handle) } else { notified.remove(handle) }
        // The proxy responds by itself; it does not ask the device.
        server.send(.notifySet(number, handle: handle))
    }

    func writeDescriptor(_ value: [UInt8], to handle: UInt32) {
        later { link in
            guard link.isAllowed, let row = link.rows.first(where: { $0.configuration == handle }) else {
                return link.refuse(handle)
            }
            let isOn = value.first == 1
            if isOn { link.enabled.insert(row.uuid) } else { link.enabled.remove(row.uuid) }
            link.server.send(.written(link.number, handle: handle))
            link.peripheral?.subscribed(row.uuid, isOn: isOn)
        }
    }

    func write(_ value: [UInt8], to handle: UInt32, withResponse: Bool) {
        guard withResponse else {
            server.send(.written(number, handle: handle))
            return later { link in
                if link.isAllowed { link.deliver(value, handle) }
            }
        }
        later { link in
            guard link.isAllowed else { return link.refuse(handle) }
            guard let row = link.rows.first(where: { $0.handle == handle }),
                link.peripheral?.allowsWriteRequest(on: row.uuid) == true
            else {
                return link.server.send(.failed(link.number, handle: handle, error: Self.writeNotPermitted))
            }
            link.server.send(.written(link.number, handle: handle))
            link.deliver(value, handle)
        }
    }

    private func deliver(_ value: [UInt8], _ handle: UInt32) {
        if let row = rows.first(where: { $0.handle == handle }) { peripheral?.write(value, on: row.uuid) }
    }

    private func refuse(_ handle: UInt32) {
        server.send(.failed(number, handle: handle, error: Self.insufficientAuthentication))
    }

    /// Whether the device permits accesses on this link.
    private var isAllowed: Bool {
        guard let peripheral else { return false }
        return isEncrypted || !(peripheral.wantsPairing || peripheral.demandsEncryption)
    }

    /// Performs something after a round trip, if the device is still in reach then.
    private func later(_ body: @escaping @LoopActor (ProxyDeviceLink) -> Void) {
        let timer = LoopTimer { [weak self] in
            guard let self, isUp, peripheral?.isReachable(from: adapterNumber) == true else { return }
            body(self)
        }
        timers.removeAll { !$0.isArmed }
        timers.append(timer)
        timer.arm(after: server.options.roundTrip)
    }

    // MARK: Pairing

    /// Pairs at the request of a client. With a bond, the link is encrypted.
    func pair() {
        guard isUp else { return }
        if isEncrypted { return server.send(.paired(number, isPaired: true, error: 0)) }
        beginPairing()
    }

    private func beginPairing() {
        guard !isPairing else { return }
        isPairing = true
        pairingTimer.arm(after: server.options.pairing)
    }

    private func pairingEnded() {
        isPairing = false
        if server.bonds.contains(address), server.lostBonds.remove(address) != nil {
            server.bonds.remove(address)
            server.send(.paired(number, isPaired: false, error: Self.keyMissing))
            return end(error: Self.keyMissing)
        }
        isEncrypted = true
        server.bonds.insert(address)
        server.send(.paired(number, isPaired: true, error: 0))
    }
}
