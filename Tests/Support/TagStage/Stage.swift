package import Bluetooth
package import EventLoop
package import JacquardProtocol
package import Logging
package import Tags
import TestSupport

/// A manager between a scripted central and a listener. Requests and events are recorded in one transcript.
@LoopActor
package final class Stage {
    package let central = ScriptedCentral()
    package let manager: TagManager
    package let log = MemorySink()
    /// Called with each event, after it was written down.
    package var onEvent: ((TagManager.Event) -> Void)?
    private var lines: [String] = []
    private var tags: [BluetoothAddress: ScriptedTag] = [:]
    /// The identities of all tags that the transcript has named.
    private var identities: [TagHandle: TagIdentity] = [:]
    /// What the test has put above the manager, to keep it.
    package var above: AnyObject?

    /// Bluetooth is on unless the test begins before that.
    ///
    /// - Parameters:
    ///   - connectionLimit: how long an attempt may take; nothing else is limited, so that a slow machine changes no test.
    ///   - state: of Bluetooth.
    ///   - catalogue: of gear.
    package init(
        connectionLimit: Duration = .seconds(3600), state: CentralState = .poweredOn,
        catalogue: GearCatalogue = .builtIn
    ) {
        var timing = TagSession.Timing()
        timing.connect = connectionLimit
        timing.start = .seconds(3600)
        timing.request = .seconds(3600)
        timing.write = .seconds(3600)
        timing.close = .seconds(3600)
        timing.gearAnnouncement = .seconds(3600)
        timing.batteryAnnouncement = .seconds(3600)
        manager = TagManager(
            central: central, timing: timing, catalogue: catalogue, log: Logger("test", to: log))
        manager.onEvent = { [unowned self] event in
            lines.append(Line.of(event) { identity(of: $0) })
            onEvent?(event)
        }
        central.onRequest = { [unowned self] request in
            lines.append(Line.of(request))
            if case .write(let value, to: _, of: let address, _) = request { tags[address]?.hear(value) }
        }
        if state != .unknown { central.report(.stateChanged(state)) }
        lines = []
    }

    /// The requests and events since the last call.
    package func said() -> [String] {
        defer { lines = [] }
        return lines
    }

    /// The lines up to one that is still to come.
    package func said(upTo line: String) async throws -> [String] {
        try await until(line) { lines.contains(line) }
        return said()
    }

    /// Puts a tag on the stage and lets it advertise.
    @discardableResult
    package func hear(
        _ number: Int, _ serial: PairingSerial = .desk, rssi: Int? = -60, name: String = "Desk", isPaired: Bool = false,
        isConnected: Bool = false
    ) -> BluetoothAddress {
        let tag = tags[.number(number)] ?? ScriptedTag(number, serial: serial)
        tags[tag.address] = tag
        let advertisement = tag.advertisement(rssi: rssi, name: name, isPaired: isPaired, isConnected: isConnected)
        central.report(.discovered(tag.address, advertisement))
        return tag.address
    }

    /// The link comes up, and service and notifications with it.
    package func link(_ address: BluetoothAddress) {
        central.report(.connected(address))
        discover(address)
    }

    /// Service and notifications are there; the characteristic of commands has these properties.
    package func discover(
        _ address: BluetoothAddress, _ properties: CharacteristicProperties = [.write, .writeWithoutResponse]
    ) {
        central.report(.characteristicsDiscovered(address, [JacquardGATT.uuid(.command): properties]))
        for characteristic in TagCharacteristic.notifying {
            central.report(.subscribed(address, JacquardGATT.uuid(characteristic)))
        }
    }

    /// The tag answers everything up to the configuration.
    package func start(_ address: BluetoothAddress) {
        for body in ScriptedTag.start { answer(address, body) }
    }

    /// All writes are confirmed, and the tag answers the last request.
    package func answer(_ address: BluetoothAddress, _ body: Response.Body? = nil, status: Status = .ok) {
        while tags[address]?.isOwedConfirmation == true {
            tags[address]?.confirm()
            central.report(.written(address))
        }
        for value in tags[address]?.answer(body, status) ?? [] {
            central.report(.notified(address, JacquardGATT.uuid(.response), value))
        }
    }

    /// The tag sends a notification.
    package func notify(_ address: BluetoothAddress, _ notification: Notification) {
        for value in (try? Fragmenter.fragments(of: notification.encoded())) ?? [] {
            central.report(.notified(address, JacquardGATT.uuid(.notify), value))
        }
    }

    /// The tag sends a gesture.
    package func gesture(_ address: BluetoothAddress, _ gesture: Gesture = .doubleTap) {
        notify(address, .dataChannel(DataChannelNotification(gesture), component: 101))
    }

    /// Connects the tag, without recording it in the transcript.
    package func connect(_ identity: TagIdentity, at number: Int = 1, serial: PairingSerial = .desk) -> BluetoothAddress
    {
        manager.connect(identity)
        let address = hear(number, serial)
        link(address)
        start(address)
        lines = []
        return address
    }

    /// The identity of a tag, also of one that was removed and is not disconnected yet.
    private func identity(of tag: TagHandle) -> TagIdentity? {
        if let identity = manager.identity(of: tag) { identities[tag] = identity }
        return identities[tag]
    }

    /// The link breaks.
    package func lose(_ address: BluetoothAddress, _ code: BluetoothError.Code = .connectionFailed) {
        central.report(.disconnected(address, BluetoothError(code, name: "org.bluez.Error.Failed", text: "lost")))
    }

    /// The link is down as asked.
    package func unlink(_ address: BluetoothAddress) {
        central.report(.disconnected(address, nil))
    }
}

extension TagIdentity {
    /// The tag of most tests.
    package static let desk = TagIdentity(serial: .desk)
}
