import Configuration
import Glibc

/// A broker that this machine can run.
struct KnownBroker: Hashable, Sendable {
    /// The name for people.
    let name: String
    /// The service of systemd, without `.service`.
    let service: String
    /// Paths of its program.
    let programs: [String]
    /// Packages of Debian or of its maker.
    let packages: [String]
    /// The plugin that it needs to speak MQTT beside running; nil: nothing.
    var extra: String?

    /// The known ones, the most likely one first.
    static let all = [
        KnownBroker(
            name: "mosquitto", service: "mosquitto", programs: ["usr/sbin/mosquitto"], packages: ["mosquitto"]),
        KnownBroker(
            name: "EMQX", service: "emqx", programs: ["usr/bin/emqx", "usr/sbin/emqx"],
            packages: ["emqx", "emqx-enterprise"]),
        KnownBroker(
            name: "RabbitMQ", service: "rabbitmq-server", programs: ["usr/sbin/rabbitmq-server"],
            packages: ["rabbitmq-server"], extra: "sudo rabbitmq-plugins enable rabbitmq_mqtt"),
        KnownBroker(
            name: "NATS", service: "nats-server",
            programs: ["usr/sbin/nats-server", "usr/bin/nats-server", "usr/local/bin/nats-server"],
            packages: ["nats-server"],
            extra: "NATS needs server_name, jetstream and mqtt {port: 1883} in /etc/nats-server.conf"),
        KnownBroker(
            name: "VerneMQ", service: "vernemq", programs: ["usr/sbin/vernemq", "usr/bin/vernemq"],
            packages: ["vernemq"]),
        KnownBroker(
            name: "ejabberd", service: "ejabberd", programs: ["usr/sbin/ejabberdctl", "opt/ejabberd/bin/ejabberdctl"],
            packages: ["ejabberd"], extra: "ejabberd needs a listener with module: mod_mqtt in ejabberd.yml"),
        KnownBroker(
            name: "HiveMQ", service: "hivemq", programs: ["opt/hivemq/bin/run.sh", "usr/share/hivemq/bin/run.sh"],
            packages: ["hivemq"]),
    ]
}

/// A broker that is installed on this machine.
struct InstalledBroker: Hashable, Sendable {
    /// The broker.
    let broker: KnownBroker
    /// Whether systemd has a unit of it.
    let hasUnit: Bool
    /// The path of its program, if it was found.
    var program: String?

    /// The commands that start it.
    var remedies: [String] {
        let start =
            hasUnit
            ? "sudo systemctl enable --now \(broker.service)"
            : program.map { "start \(broker.name): \($0)" } ?? "start \(broker.name), which is installed here"
        return [start] + [broker.extra].compactMap(\.self)
    }

    /// Finds the installed brokers by their units, programs and packages. Reads files.
    ///
    /// - Parameter root: the root folder of the file system.
    /// - Returns: the brokers, those with a unit first.
    static func all(below root: String) -> [InstalledBroker] {
        let units = ["lib/systemd/system", "usr/lib/systemd/system", "etc/systemd/system"]
        let packages = installedPackages(root + "/var/lib/dpkg/status")
        let found = KnownBroker.all.compactMap { broker -> InstalledBroker? in
            let hasUnit = units.contains { access("\(root)/\($0)/\(broker.service).service", F_OK) == 0 }
            let program = broker.programs.first { access("\(root)/\($0)", F_OK) == 0 }
            // A service file of /etc may be left over by a package that was removed.
            guard program != nil || broker.packages.contains(where: packages.contains) else { return nil }
            return InstalledBroker(broker: broker, hasUnit: hasUnit, program: program.map { "/" + $0 })
        }
        return found.filter(\.hasUnit) + found.filter { !$0.hasUnit }
    }

    /// The names of the packages that dpkg regards as installed.
    private static func installedPackages(_ path: String) -> Set<String> {
        guard let contents = try? FileContents(path: path, limit: 64 << 20) else { return [] }
        var (names, name): (Set<String>, ArraySlice<UInt8>) = ([], [])
        for line in contents.bytes.split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: "Package: ".utf8) {
                name = line.dropFirst("Package: ".utf8.count)
            } else if line.elementsEqual("Status: install ok installed".utf8) {
                names.insert(String(decoding: name, as: UTF8.self))
            }
        }
        return names
    }
}
