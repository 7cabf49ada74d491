import BrokerAccess
import CSystemd
import CommandLine
import Configuration
import EventLoop
import Glibc
import HTTPServer
import JSON
import Logging
import MQTT
import PasswordHash
import Terminal
import Text
import Time

/// `run`: serves the page until SIGTERM or SIGINT.
struct ServeCommand: CommandAction, Hashable {
    /// The bridge's configuration, for the broker; nil: the default file.
    var config: String?
    /// The page's configuration; nil: the default file.
    var web: String?
    /// The runtime folder; nil: that of the environment.
    var runtime: String?

    /// Runs the loop on the calling thread.
    func run(in context: CommandContext) -> ExitCode {
        switch (
            ConfigurationFile.load(path: config, environment: context.environment),
            // A service manager that opens the socket decides about the address.
            WebSettings.load(
                path: web, listens: context.environment["LISTEN_FDS", default: ""].isEmpty,
                isPasswordHash: PasswordHash.isValid)
        ) {
        case (.failure(let failure), _), (_, .failure(let failure)):
            failure.lines.forEach { OutputChannel.standardError.write($0) }
            return .wrongUsage
        case (.success(let loaded), .success(let settings)):
            do {
                let plan = try Plan(loaded.configuration, settings, runtime, context.environment)
                return LoopRun.exitCode { await plan.run() ? .done : .failed }
            } catch {
                OutputChannel.standardError.write("jacquard2mqtt-web: \(error)")
                return .wrongUsage
            }
        }
    }
}

/// The parts of a service, before it starts.
private struct Plan: Sendable {
    let broker: Settings
    let settings: WebSettings
    let socket: ListeningSocket
    /// A Unix socket with the metrics.
    let metrics: ListeningSocket?
    /// Whether the service manager has opened another address than that of the configuration.
    let isOtherSocket: Bool
    let tls: (key: String, certificate: String)?
    let keys: OneTimeKeys?
    let state: StateFiles?
    let sink: any LogSink

    /// - Throws: a text that says what is wrong and what to do.
    init(_ broker: Settings, _ settings: WebSettings, _ runtime: String?, _ environment: [String: String]) throws {
        self.broker = broker
        self.settings = settings
        let passed = try ListeningSocket.passedByServiceManager()
        // Checked first, so that a refused address is never bound.
        if let refusal = settings.refusal(at: passed.tcp?.address ?? settings.address) { throw StartError(refusal) }
        tls = try PageCertificate.read(settings)
        socket = try passed.tcp ?? ListeningSocket(address: settings.address, port: settings.port)
        isOtherSocket = passed.tcp.map { $0.address != settings.address || $0.port != settings.port } ?? false
        let isLink = settings.users.isEmpty && !settings.isIngress
        let folder = OneTimeKeys.folder(option: runtime, environment: environment, isRoot: geteuid() == 0)
        if isLink, folder == nil {
            throw StartError("XDG_RUNTIME_DIR is not set; name a folder for one-time links: --runtime DIR")
        }
        keys = isLink ? folder.map(OneTimeKeys.init) : nil
        state = StateFiles(environment: environment, runtime: keys?.folder)
        let isJournal = JournalSink.isBehindStandardError(environment["JOURNAL_STREAM"])
        sink =
            isJournal
            ? JournalSink(level: .info)
            : StreamSink(format: .text, level: .info) { TimeText.utc(WallClock.unixMilliseconds) }
        // Last, so that no error leaves its file behind.
        metrics = try passed.unix ?? Self.metricsSocket(settings)
    }

    private static func metricsSocket(_ settings: WebSettings) throws -> ListeningSocket? {
        guard let path = settings.metricsSocket else { return nil }
        do throws(HTTPServerError) {
            return try ListeningSocket(path: path, group: settings.metricsSocketGroup)
        } catch {
            throw StartError("metrics_socket: \(error)")
        }
    }

    /// The address for users.
    private var address: String {
        let host = socket.address.contains(":") ? "[\(socket.address)]" : socket.address
        return "\(tls == nil ? "http" : "https")://\(host):\(socket.port)/"
    }

    /// Serves until a signal.
    ///
    /// - Returns: whether the server could start.
    @LoopActor
    func run() async -> Bool {
        defer { metrics?.removeFile() }
        let log = Logger("web", to: sink)
        let end = TerminationSignals()
        var page = page
        if let state {
            page.history = state.readHistory()
            if keys != nil { page.sessions.restore(state.readDevices(), token: Secrets.random, at: .now) }
        }
        let service = WebService(
            page, client: MQTTClient(configuration: client, log: log.labelled("mqtt")),
            keys: keys ?? OneTimeKeys(folder: ""), state: state, log: log)
        do {
            try end.listen()
            if let keys, !keys.prepare(address: address) {
                log.warning("cannot write to the folder of one-time links", [(.path, keys.folder)])
            }
            try service.start(socket, server)
            if let metrics { try service.startMetrics(metrics) }
        } catch {
            log.error("cannot serve", [(.error, "\(error)")])
            await service.stop()
            return false
        }
        if isOtherSocket {
            log.warning("address and port of web.yaml are not used: the socket unit has others", [(.endpoint, address)])
        }
        if let metrics, let path = settings.metricsSocket, metrics.path != path {
            log.warning("metrics_socket of web.yaml is not used: the socket unit has another", [(.path, path)])
        }
        if settings.isBehindProxy, !WebSettings.isLoopback(socket.address) {
            log.warning("hosts of private networks can connect without the proxy", [(.endpoint, address)])
        }
        log.notice("serving", [(.version, Version.current), (.endpoint, address)])
        if let path = metrics?.path { log.notice("serving metrics", [(.path, path)]) }
        sd_notify(0, "READY=1")
        EventLoop.shared.enableWatchdog()
        await end.wait()
        sd_notify(0, "STOPPING=1")
        await service.stop()
        keys?.remove()
        return true
    }

    private var rules: AccessRules {
        var rules = AccessRules()
        rules.authentication = settings.isIngress ? .ingress : settings.users.isEmpty ? .link : .users
        rules.isBehindProxy = settings.isBehindProxy
        rules.trustedOrigins = Set(settings.trustedOrigins)
        return rules
    }

    private var page: PageServer {
        let users = settings.users.compactMap { user in
            Role(rawValue: user.role).map { PageServer.User(name: user.name, hash: user.password.value, role: $0) }
        }
        let boot = String(UInt32.random(in: .min ... .max), radix: 16)
        return PageServer(
            rules: rules, users: users, isEncrypted: tls != nil || settings.isBehindProxy, port: socket.port,
            base: broker.mqtt.baseTopic, boot: boot, version: Version.current, hasMetrics: settings.hasMetrics, at: .now
        )
    }

    private var server: HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration()
        configuration.tls = tls
        let (rules, isIngress) = (rules, settings.isIngress)
        configuration.isSharedAddress = { isIngress || rules.isProxy($0) || WebSettings.isLoopback($0) }
        return configuration
    }

    private var client: MQTTConfiguration {
        let name = "jacquard-web-" + String(UInt64.random(in: .min ... .max), radix: 36)
        var client = MQTTConfiguration(broker, identifier: name)
        client.sessionExpiry = .zero
        // A broker that hangs is noticed within one and a half times this.
        client.keepAlive = .seconds(8)
        client.longestRetry = .seconds(5)
        return client
    }
}

/// The certificates and the private key of the page.
enum PageCertificate {
    /// Reads the files of `tls`; nil without them.
    ///
    /// - Throws: a text that says what is wrong and what to do.
    static func read(_ settings: WebSettings) throws(StartError) -> (key: String, certificate: String)? {
        guard let certificate = settings.certificateFile, let key = settings.keyFile else { return nil }
        let tls = (
            key: try text(key, "tls.key_file"), certificate: try text(certificate, "tls.certificate_file")
        )
        guard HTTPServer.accepts(key: tls.key, certificate: tls.certificate) else {
            throw StartError(
                "tls: \(certificate) and \(key) are not a certificate and its private key as PEM; "
                    + "check that they belong together")
        }
        return tls
    }

    private static func text(_ file: String, _ path: String) throws(StartError) -> String {
        do throws(FileError) {
            return String(decoding: try FileContents(path: file, limit: 1 << 20).bytes, as: UTF8.self)
        } catch {
            throw StartError("\(path): \(file) cannot be read: \(error.reason(for: file))")
        }
    }
}

/// Why the page cannot start.
struct StartError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
