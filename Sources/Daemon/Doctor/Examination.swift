import Configuration
import EventLoop
import Logging

/// Where the doctor finds facts about the machine; tests use other paths.
struct Machine: Sendable {
    /// The kernel's list of radios.
    var radios = "/sys/class/rfkill"
    /// The kernel's devices by kind.
    var devices = "/sys/class"
    /// BlueZ' own client.
    var bluetoothTool = "bluetoothctl"
    /// What Docker and Podman leave in a container.
    var containerMarks = ["/.dockerenv", "/run/.containerenv"]
    /// The time of day, in seconds since 1970.
    var unixSeconds: @Sendable () -> Int64 = { ClockCheck.probe() }
}

/// Looks at everything, one after the other: each probe gives facts, each check makes a finding of them.
struct Examination: Sendable {
    /// The configuration, or what is wrong with it.
    let loaded: Result<LoadedConfiguration, ConfigurationErrors>
    /// Of the bus that BlueZ is on.
    let busAddress: String
    /// Where the bridge remembers its tags.
    let stateFolder: String
    /// Where the facts of this machine are.
    var machine = Machine()
    /// For what the libraries report.
    let log: Logger

    /// Every check once, in its order.
    @LoopActor
    func findings() async -> [Finding] {
        var findings = [ConfigurationCheck.finding(loaded)]
        findings += await bluetooth()
        findings += await broker()
        findings.append(ClockCheck.finding(unixSeconds: machine.unixSeconds()))
        findings.append(StateFolderCheck.finding(StateFolderCheck.probe(stateFolder)))
        let order = Check.allCases
        return findings.sorted {
            (order.firstIndex(of: $0.check) ?? 0) < (order.firstIndex(of: $1.check) ?? 0)
        }
    }

    private var configuration: Settings? {
        try? loaded.get().configuration
    }

    @LoopActor
    private func bluetooth() async -> [Finding] {
        let facts = await BluetoothProbe(busAddress: busAddress, log: log).facts()
        let tool = machine.bluetoothTool
        let version = await HelperThread.shared.run(.programs) { BlueZVersionCheck.probe(tool) }
        return [
            SystemBusCheck.finding(
                busAddress, facts.busError, isInContainer: SystemBusCheck.isInContainer(machine.containerMarks)),
            BluetoothServiceCheck.finding(facts),
            BluetoothPolicyCheck.finding(facts),
            BlueZVersionCheck.finding(version),
            AdapterCheck.finding(facts, configuration?.bluetooth.adapter ?? .automatic),
            RadioSwitchCheck.finding(RadioSwitchCheck.probe(machine.radios)),
            SharedChipCheck.finding(SharedChipCheck.probe(machine.devices)),
        ]
    }

    @LoopActor
    private func broker() async -> [Finding] {
        guard let configuration else {
            return Check.ofBroker.map { Finding($0, .skipped, "the configuration has errors") }
        }
        let host = configuration.mqtt.host
        let addresses = await HelperThread.shared.run { BrokerNameCheck.probe(host) }
        let facts = await BrokerProbe(configuration: configuration, log: log).facts()
        return [
            BrokerNameCheck.finding(host, addresses),
            BrokerReachCheck.finding(configuration.mqtt, facts.contact),
            BrokerTLSCheck.finding(configuration.mqtt, facts.contact),
            BrokerLoginCheck.finding(configuration.mqtt, facts.contact),
            BrokerVersionCheck.finding(configuration.mqtt.version, facts.contact),
            BrokerPermissionsCheck.finding(facts.permissions),
            HomeAssistantCheck.finding(configuration.homeAssistant, facts),
            BridgeCheck.finding(configuration.instance, facts, isRunningHere: BridgeCheck.probe()),
            FirmwareCheck.finding(facts.bridgeHealth),
        ]
    }
}

extension Check {
    /// Those that nothing can be said about without knowing the broker.
    static let ofBroker: [Check] = [
        .brokerName, .brokerReach, .brokerTLS, .brokerLogin, .brokerVersion, .brokerPermissions, .homeAssistant,
        .bridge, .firmware,
    ]
}
