public import BlueZ
public import Bluetooth
package import Configuration
import Doctor
public import ESPHome
package import EventLoop
package import Logging
package import MQTT
public import Radios

/// The central of a bridge: one radio, or several that act as one.
package protocol BridgeCentral: RadioUnit {
    /// The radios, if there are several.
    var radios: RadioCentral? { get }
}

extension BridgeCentral {
    /// A central with one radio.
    package var radios: RadioCentral? { nil }
    /// Empty: the links of a process end with it.
    package var formerLinks: Set<BluetoothAddress> {
        get { [] }
        set {}
    }
    /// Empty: no link outlives the process.
    package var remainingLinks: Set<BluetoothAddress> { [] }
}

extension BlueZCentral: @LoopActor BridgeCentral {}
extension BlueZCentral: @LoopActor RadioUnit {}
extension ESPHomeCentral: @LoopActor RadioUnit {
    /// nil: a proxy is never switched off.
    public var switchedOff: BluetoothAddress? {
        get { nil }
        set {}
    }
    /// nil: a proxy is never switched off.
    public var onReset: (@LoopActor (BluetoothAddress?) async -> Void)? {
        get { nil }
        set {}
    }
    /// nil: the adapter of a proxy has its fault.
    public var fault: AdapterFault? { nil }
    /// Does nothing: each value is delivered when it is received.
    public func deliverReceived() {}
}

extension RadioCentral: @LoopActor BridgeCentral {
    /// This central.
    package var radios: RadioCentral? { self }

    /// Creates the radios of a configuration, each with a central of its own.
    ///
    /// - Parameters:
    ///   - radios: the radios.
    ///   - bus: the address of the bus for adapters of this host.
    ///   - resetAdapter: whether an adapter that receives nothing may be switched off and on.
    ///   - bonds: the last known bonds of proxies.
    ///   - log: the logger.
    convenience init(
        _ radios: [RadioSettings], bus: String, resetAdapter: Bool, bonds: ProxyBonds, log: Logger
    ) {
        let members = radios.map { radio in
            let log = log.with(.radio, radio.name)
            let unit: any RadioUnit =
                if let proxy = radio.proxy {
                    ESPHomeCentral(
                        proxy, bonds: bonds.addresses(of: radio.name), bondsByController: bonds.byController,
                        log: log.labelled("esphome"))
                } else {
                    Self.central(radio, beside: radios, bus, resetAdapter, log)
                }
            return Member(name: radio.name, unit: unit)
        }
        self.init(members, log: log)
    }

    /// Creates the central of an adapter, which leaves the links of the other radios alone.
    private static func central(
        _ radio: RadioSettings, beside radios: [RadioSettings], _ bus: String, _ resetAdapter: Bool, _ log: Logger
    ) -> BlueZCentral {
        let central = BlueZCentral(
            busAddress: radio.busAddress(here: bus), adapter: .init(radio.adapter.text), resetAdapter: resetAdapter,
            log: log)
        central.otherRadios = radios.filter {
            $0.name != radio.name && $0.proxy == nil && $0.busAddress(here: bus) == radio.busAddress(here: bus)
        }.map { .init($0.adapter.text) }
        return central
    }
}

/// The parts of the machine that a bridge uses: the radio, the network and the process. A simulation replaces it.
@LoopActor
package struct BridgeMachine {
    /// Creates the central. Proxies have no list of their bonds, so it is given.
    package var makeCentral: @LoopActor (Settings, ProxyBonds, Logger) -> any BridgeCentral
    /// Changes the configuration of the client.
    package var configure: @LoopActor (inout MQTTConfiguration) -> Void
    /// Returns the resident memory in kilobytes.
    package var residentKilobytes: @LoopActor () -> Int
    /// Gives unused memory back to the system.
    package var releaseMemory: @LoopActor () -> Void
    /// Returns the version of BlueZ; nil if it is unknown.
    package var bluezVersion: @LoopActor () async -> String?
    /// Source of the boot number and of the jitter of connections.
    package var random: any RandomNumberGenerator

    /// Creates a machine.
    package init(
        makeCentral: @escaping @LoopActor (Settings, ProxyBonds, Logger) -> any BridgeCentral,
        configure: @escaping @LoopActor (inout MQTTConfiguration) -> Void,
        residentKilobytes: @escaping @LoopActor () -> Int, releaseMemory: @escaping @LoopActor () -> Void,
        bluezVersion: @escaping @LoopActor () async -> String?, random: any RandomNumberGenerator
    ) {
        self.makeCentral = makeCentral
        self.configure = configure
        self.residentKilobytes = residentKilobytes
        self.releaseMemory = releaseMemory
        self.bluezVersion = bluezVersion
        self.random = random
    }

    /// The machine of the process.
    ///
    /// - Parameter bus: the address of the bus that BlueZ is on.
    /// - Returns: the machine.
    static func real(bus: String) -> BridgeMachine {
        BridgeMachine(
            makeCentral: { configuration, bonds, log in
                if let radios = configuration.bluetooth.radios {
                    return RadioCentral(
                        radios, bus: bus, resetAdapter: configuration.bluetooth.resetAdapter, bonds: bonds, log: log)
                }
                return BlueZCentral(
                    busAddress: bus, adapter: .init(configuration.bluetooth.adapter.text),
                    resetAdapter: configuration.bluetooth.resetAdapter, log: log)
            }, configure: { _ in }, residentKilobytes: { ProcessMeasurement.residentKilobytes },
            releaseMemory: { ProcessMemory.release() },
            bluezVersion: { BlueZVersion.version(in: await BlueZVersion.output()) },
            random: SystemRandomNumberGenerator())
    }
}
