import EventLoop
public import FakeBlueZ
import JacquardProtocol
import TagFirmware

extension SimulatedTag: SimulatedPeripheral {
    /// The tag's GATT table, without the services that every device has.
    public var services: [GATTService] {
        guard !options.hasNoService else { return [] }
        let write = options.allowsWriteWithoutResponseOnly ? [] : ["write"]
        let read = options.allowsReading ? ["read"] : []
        return [
            GATTService(
                uuid: JacquardService.uuid,
                characteristics: [
                    .init(uuid: TagCharacteristic.command.uuid, flags: ["write-without-response"] + write),
                    .init(uuid: TagCharacteristic.response.uuid, flags: ["notify"] + read),
                    .init(uuid: TagCharacteristic.notify.uuid, flags: ["notify"]),
                    .init(uuid: TagCharacteristic.rawData.uuid, flags: ["write-without-response", "write", "notify"]),
                ])
        ]
    }

    /// Its advertisement where a host receives it. The strength flickers, as it does on the air.
    public var broadcast: BroadcastData? {
        guard isInRange, let advertisement = firmware.advertisement else { return nil }
        rssiFlicker = 1 - rssiFlicker
        return BroadcastData(
            name: advertisement.name, services: FirmwareAdvertisement.services,
            manufacturerData: [FirmwareAdvertisement.company: advertisement.manufacturerData],
            rssi: options.rssi - rssiFlicker)
    }

    /// Whether packets of a link arrive.
    public var isReachable: Bool { isInRange }

    /// Its advertisement as an adapter receives it.
    public func broadcast(at adapter: Int) -> BroadcastData? {
        guard let strength = strength(at: adapter), var broadcast else { return nil }
        broadcast.rssi += strength - options.rssi
        return broadcast
    }

    /// Whether packets of a link with an adapter arrive.
    public func isReachable(from adapter: Int) -> Bool { isInRange && strength(at: adapter) != nil }

    /// Whether it wants to be paired before anything else.
    public var wantsPairing: Bool { options.wantsPairing }

    /// Whether it refuses every access over a link that is not encrypted.
    public var demandsEncryption: Bool { options.demandsEncryption }

    /// A host has connected.
    public func linked(_ link: any PeripheralLink, mtu: Int) {
        self.link = link
        report(.connected)
        perform(firmware.connected(mtu: mtu, at: .now))
    }

    /// The link has gone.
    public func unlinked() {
        link = nil
        supervision.disarm()
        outbox.clear()
        report(.disconnected)
        perform(firmware.disconnected())
        burst.linkHasGone()
    }

    /// The host switches notifications on or off.
    public func subscribed(_ characteristic: String, isOn: Bool) {
        guard let channel = TagCharacteristic(rawValue: characteristic) else { return }
        firmware.subscribed(channel, isOn: isOn)
        report(.subscribed(channel, isOn: isOn))
    }

    /// Whether a write with response is carried out.
    public func allowsWriteRequest(on characteristic: String) -> Bool {
        !options.allowsWriteWithoutResponseOnly && !firmware.faults.refusesWriteWithResponse
    }

    /// The host writes.
    public func write(_ value: [UInt8], on characteristic: String) {
        guard let channel = TagCharacteristic(rawValue: characteristic) else { return }
        perform(firmware.write(value, on: channel, at: .now))
    }

    /// There is room again for what has to be notified.
    public func hasRoom() {
        guard let link, outbox.flush(over: link) else { return }
        burst.hasRoom()
    }
}
