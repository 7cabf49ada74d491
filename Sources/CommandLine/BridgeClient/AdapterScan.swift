import BlueZ
import Bluetooth
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import JSON
import JacquardProtocol
import Logging
import Tags
import Terminal
import Time

/// Scans with this machine's own adapter, if no bridge can be reached.
struct AdapterScan: Sendable {
    let context: ClientContext
    /// The duration of the scan.
    let duration: Duration
    /// Why the bridge cannot scan.
    let reason: ClientFailure

    private enum Signal: Sendable {
        case state(CentralState)
        case advertised(AdvertisedTag)
        case interrupted
    }

    /// How long BlueZ may take to list its adapters.
    private static let patience = Duration.seconds(5)

    /// Scans. Ctrl-C ends it early, with the tags so far.
    ///
    /// - Throws: `noConnection` if the adapter cannot be used.
    @LoopActor
    func run() async throws(ClientFailure) -> ScanReport {
        let mailbox = Mailbox<Signal>()
        let central = BlueZCentral(
            busAddress: context.busAddress, adapter: .init(context.configuration.bluetooth.adapter.text),
            log: context.log.labelled("bluez"))
        let manager = TagManager(central: central, log: context.log.labelled("jacquard"))
        manager.onEvent = { event in
            switch event {
            case .centralState(let state): mailbox.put(.state(state))
            case .advertised(let tag, isNew: _, of: _): mailbox.put(.advertised(tag))
            default: break
            }
        }
        context.interruption.onFire = { mailbox.put(.interrupted) }
        await central.start()
        let progress = Progress(context.printer)
        defer { progress.end() }
        do throws(ClientFailure) {
            guard central.hasBus else { throw Self.noBus(central.fault) }
            try await waitUntilUsable(mailbox, central)
            try start(manager)
            context.printer.explain(reason)
            progress.say("listening with this machine's adapter for \(duration.components.seconds) s")
            let report = await collect(mailbox)
            manager.stopScanning()
            await central.stop()
            return report
        } catch {
            await central.stop()
            throw error
        }
    }

    @LoopActor
    private func start(_ manager: TagManager) throws(ClientFailure) {
        do throws(ManagerScanningError) {
            try manager.startScanning(allowsDuplicates: true)
        } catch {
            switch error {
            case .bluetoothUnavailable(let state): throw Self.noRadio(Self.words(state))
            }
        }
    }

    @LoopActor
    private func waitUntilUsable(
        _ mailbox: Mailbox<Signal>, _ central: BlueZCentral
    ) async throws(ClientFailure) {
        let deadline = Instant.now + Self.patience
        var last = CentralState.unknown
        while let signal = await mailbox.next(until: deadline) {
            switch signal {
            case .state(.poweredOn): return
            case .state(let state) where state == .unsupported || state == .unauthorized || state == .poweredOff:
                throw Self.noRadio(Self.words(state))
            case .state(let state): last = state
            case .interrupted: throw .interrupted
            case .advertised: break
            }
        }
        throw Self.noRadio(central.fault?.text ?? Self.words(last))
    }

    @LoopActor
    private func collect(_ mailbox: Mailbox<Signal>) async -> ScanReport {
        var report = ScanReport(source: .adapter)
        let known = Set(context.configuration.tags.map(\.serial))
        let end = Instant.now + duration
        while let signal = await mailbox.next(until: end) {
            switch signal {
            // BlueZ also reports devices that it remembers; these have no signal strength.
            case .advertised(let tag): if tag.rssi != nil { report.take(Self.advertisement(tag, known)) }
            case .interrupted: return report
            case .state: break
            }
        }
        return report
    }

    /// The advertisement in the bridge's format.
    private static func advertisement(_ tag: AdvertisedTag, _ known: Set<String>) -> JSONValue {
        let serial = tag.pairingSerialNumber.description
        return [
            "address": .string(tag.identifier.description), "serial": .string(serial),
            "name": tag.displayName.isEmpty ? .null : .string(tag.displayName), "rssi": JSONValue(tag.rssi),
            "known": .bool(known.contains(serial)),
        ]
    }

    private static func words(_ state: CentralState) -> String {
        switch state {
        case .unknown, .resetting: "bluetoothd does not answer"
        case .unsupported: "there is no Bluetooth adapter"
        case .unauthorized: "this user may not use bluetoothd"
        case .poweredOff: "the Bluetooth adapter is switched off"
        case .poweredOn: "Bluetooth is ready"
        }
    }
}

extension AdapterScan {
    /// The adapter of this machine cannot scan.
    private static func noRadio(_ reason: String) -> ClientFailure {
        ClientFailure(exitCode: .noConnection, code: "no_radio", text: reason, hint: "jacquard2mqtt doctor")
    }

    private static func noBus(_ fault: AdapterFault?) -> ClientFailure {
        noRadio("the system bus cannot be reached" + (fault.map { ": \($0.text)" } ?? ""))
    }
}
