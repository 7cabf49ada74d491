import BlueZ
import Bridge
import BrokerAccess
import Configuration
import EventLoop
import Glibc
import JSON
import Logging
import MQTT

/// The sources of facts about the machine. Tests use other paths.
struct Machine: Sendable {
    /// The kernel's list of radios.
    var radios = "/sys/class/rfkill"
    /// The kernel's devices by kind.
    var devices = "/sys/class"
    /// The client program of BlueZ.
    var bluetoothTool = "bluetoothctl"
    /// Files that Docker and Podman create in a container.
    var containerMarks = ["/.dockerenv", "/run/.containerenv"]
    /// The program bluetoothd, in Debian 12 and in older releases.
    var bluetoothPrograms = ["/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd"]
    /// The root folder, below which installed brokers are looked for.
    var root = "/"
    /// The time of day, in seconds since 1970.
    var unixSeconds: @Sendable () -> Int64 = { WallClock.unixMilliseconds / 1000 }
}

extension Machine {
    /// The facts on which remedies depend. Looks at files.
    var surroundings: Cause.Surroundings {
        Cause.Surroundings(
            isInContainer: SystemBusCheck.isInContainer(containerMarks),
            isServiceInstalled: bluetoothPrograms.contains { access($0, F_OK) == 0 })
    }

    /// The findings about the bus and BlueZ.
    func findings(
        _ facts: BluetoothFacts, at busAddress: String, _ adapter: Settings.Bluetooth.Adapter
    ) -> [Finding] {
        let surroundings = surroundings
        return [
            SystemBusCheck.finding(busAddress, facts.busError, isInContainer: surroundings.isInContainer),
            BluetoothServiceCheck.finding(facts, surroundings),
            BluetoothPolicyCheck.finding(facts),
            AdapterCheck.finding(facts, adapter),
        ] + [SnapTagCheck.finding(facts)].compactMap { $0 }
    }

    /// The findings about the kernel's radios. Reads files.
    var radioFindings: [Finding] {
        [
            RadioSwitchCheck.finding(RadioSwitchCheck.probe(radios)),
            SharedChipCheck.finding(SharedChipCheck.probe(devices)),
        ]
    }
}

/// Runs all checks: each probe collects facts, and each check turns facts into a finding.
struct Examination: Sendable {
    /// The configuration, or its errors.
    let loaded: Result<LoadedConfiguration, ConfigurationErrors>
    /// The address of the bus with BlueZ.
    let busAddress: String
    /// The folder with the known tags.
    let stateFolder: String
    /// The sources of facts about the machine.
    var machine = Machine()
    /// For log records of the libraries.
    let log: Logger

    /// Runs every check once.
    ///
    /// - Returns: the findings in the order of ``Check``.
    @LoopActor
    func findings() async -> [Finding] {
        var findings = [ConfigurationCheck.finding(loaded)]
        findings += await bluetooth()
        let (broker, health) = await broker()
        findings += broker
        findings.append(ClockCheck.finding(unixSeconds: machine.unixSeconds()))
        findings.append(StateFolderCheck.finding(StateFolderCheck.probe(stateFolder)))
        findings += ProblemChecks.findings(configuration?.instance ?? "", health, own: findings)
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
        if let radios = configuration?.bluetooth.radios { return await findings(of: radios) }
        let facts = await BluetoothProbe(busAddress: busAddress, log: log).facts()
        let version = await BlueZVersion.output(of: machine.bluetoothTool)
        return machine.findings(facts, at: busAddress, configuration?.bluetooth.adapter ?? .automatic)
            + [BlueZVersionCheck.finding(version, isInContainer: SystemBusCheck.isInContainer(machine.containerMarks))]
            + machine.radioFindings
    }

    /// With several radios, this host's own Bluetooth is checked if one of them uses it.
    @LoopActor
    private func findings(of radios: [RadioSettings]) async -> [Finding] {
        let isUsed = radios.contains { $0.place == .here }
        let facts =
            isUsed ? await BluetoothProbe(busAddress: busAddress, log: log).facts() : BluetoothFacts()
        let findings = await RadioCheck.findings(radios, own: facts, log: log)
        guard isUsed else {
            let bluetooth: [Check] = [.systemBus, .bluetoothService, .bluetoothPolicy, .bluezVersion, .adapter]
            return (bluetooth + Check.ofRadio).map { Finding($0, .skipped, "no radio is an adapter of this host") }
                + findings
        }
        let version = await BlueZVersion.output(of: machine.bluetoothTool)
        let isInContainer = SystemBusCheck.isInContainer(machine.containerMarks)
        return machine.findings(facts, at: busAddress, .automatic).filter { $0.check != .adapter }
            + [Finding(.adapter, .skipped, "bluetooth.radios is set: see each radio")]
            + [BlueZVersionCheck.finding(version, isInContainer: isInContainer)] + machine.radioFindings + findings
    }

    @LoopActor
    private func broker() async -> ([Finding], health: JSONValue?) {
        guard let configuration else {
            return (Check.ofBroker.map { Finding($0, .skipped, "the configuration has errors") }, nil)
        }
        guard let domain = configuration.mqtt.serviceDomain else { return await broker(configuration) }
        let name = ServiceLookup.name(of: domain, isEncrypted: configuration.mqtt.tls != nil)
        let answer = await HelperThread.shared.run { ServiceLookup.nodes(of: name, .listed) }
        switch answer {
        case .failure(let error):
            let remedies = ["dig SRV \(name)", "check mqtt.srv and mqtt.tls, or set mqtt.hosts"]
            let skipped = Check.ofBroker.dropFirst().map { Finding($0, .skipped, "the broker has no address") }
            return ([Finding(.brokerName, .failed, error.text, remedies: remedies)] + skipped, nil)
        case .success(let nodes):
            var found = configuration
            found.mqtt.serviceDomain = nil
            found.mqtt.setHosts(nodes.map { BrokerHost(host: $0.host, port: Int($0.port)) })
            return await broker(found)
        }
    }

    @LoopActor
    private func broker(_ configuration: Settings) async -> ([Finding], health: JSONValue?) {
        let host = configuration.mqtt.host
        let addresses = await HelperThread.shared.run { BrokerAddresses.lookUp(host) }
        let probe = BrokerProbe(configuration: configuration, log: log)
        let facts = await probe.facts()
        let nodes = await probe.nodes()
        let isUnreachable = facts.contact.failedStage == .reach && configuration.mqtt.isOnThisMachine
        let root = machine.root
        let brokers = isUnreachable ? await HelperThread.shared.run { InstalledBroker.all(below: root) } : []
        // What a bridge has published that does not answer may be old.
        let isAnswering = facts.bridgeState == "online" && facts.bridgePresence != .silent
        let findings: [Finding] = [
            BrokerNameCheck.finding(host, addresses),
            BrokerReachCheck.finding(
                configuration.mqtt, facts.contact, nodes: nodes, brokers: brokers, trials: facts.trials),
            BrokerTLSCheck.finding(configuration.mqtt, facts.contact),
            BrokerLoginCheck.finding(configuration.mqtt, facts.contact),
            BrokerVersionCheck.finding(configuration.mqtt.version, facts.contact),
            BrokerLimitsCheck.finding(facts, configuration.homeAssistant),
            BrokerPermissionsCheck.finding(facts.permissions, baseTopic: configuration.mqtt.baseTopic),
            HomeAssistantCheck.finding(configuration.homeAssistant, facts),
            BridgeCheck.finding(configuration.instance, facts, isRunningHere: BridgeCheck.probe()),
            FirmwareCheck.finding(facts.bridgeHealth),
        ]
        return (
            findings + RadioCheck.taken(facts.bridgeHealth), isAnswering ? facts.bridgeHealth : nil
        )
    }
}

extension Check {
    /// The checks of the command `doctor`. The others are those of a running bridge, and ``snapTag``, which is only reported
    /// if there is one, as is ``radio``.
    static let ofCommand = allCases.filter {
        switch $0 {
        case .broker, .discovery, .duplicateSerials, .tags, .connectionPolicy, .received, .bond, .link, .lastError,
            .snapTag, .radio:
            false
        default: true
        }
    }

    /// The checks of the kernel's radios.
    static let ofRadio: [Check] = [.radioSwitch, .sharedChip]

    /// The checks that need a valid configuration.
    static let ofBroker: [Check] = [
        .brokerName, .brokerReach, .brokerTLS, .brokerLogin, .brokerVersion, .brokerLimits, .brokerPermissions,
        .homeAssistant, .bridge, .firmware,
    ]
}
