import Bridge
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import JSON
import MQTT
import MQTTTypes
import Terminal
import Text
import Time

/// `acl try`: logs in as each role, and tries every action that it may and may not do.
struct AccessTryCommand: ClientCommand {
    /// The role of the configuration's user.
    let role: AccessRole
    /// The file with a line for each login; nil: the configuration's user alone.
    let logins: String?
    /// The base topic of replays.
    var replayBase = AccessTable.usualReplayBase

    var usesBridge: Bool { false }

    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let logins = try AccessLogin.all(self, context.configuration)
        let name = "acl-try-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let table = AccessTable(context.configuration, replayBase: replayBase)
        let players = logins.map { AccessPlayer($0, context, trials: table.trials(of: $0.role, name: name)) }
        context.interruption.onFire = { players.forEach { $0.session.interrupt() } }
        let result: Result<Void, ClientFailure>
        do throws(ClientFailure) {
            for player in players { try await player.open() }
            for player in players { try await player.tryPublishing() }
            for player in players { try await player.tryReading(from: players) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        for player in players { await player.session.close() }
        try result.get()
        try report(players.map { ($0.login, $0.results) }, context.printer)
    }

    /// Prints the results.
    ///
    /// - Throws: `access_differs` if the broker allows too much or too little.
    private func report(_ results: [(AccessLogin, [AccessResult])], _ printer: Printer) throws(ClientFailure) {
        let wrong = results.flatMap(\.1).count { $0.isWrong }
        var table = TextTable(titles: ["ROLE", "USER", "ACTION", "TOPIC", "ALLOWED", "DONE"])
        var lines: [String] = []
        for (login, results) in results {
            let tried = results.filter { $0.isDone != nil }
            let differing = tried.count { $0.isWrong }
            let untried = results.filter { $0.isDone == nil }.map { "\($0.trial.action.rawValue) \($0.trial.topic)" }
            lines.append(
                "\(login.role.rawValue), user \(login.user ?? "-"): \(counted(tried.count, "action")) tried, "
                    + "\(differing) \(differing == 1 ? "differs" : "differ"), \(untried.count) could not be tried"
                    + (untried.isEmpty
                        ? "" : ", because no user may write there: \(untried.joined(separator: ", "))"))
            for result in tried where result.isWrong {
                table.rows.append([
                    login.role.rawValue, login.user ?? "", result.trial.action.rawValue, result.trial.topic,
                    result.trial.isAllowed ? "yes" : "no", result.isDone == true ? "yes" : "no",
                ])
            }
        }
        let trials = results.flatMap { login, results in results.map { $0.document(login) } }
        printer.show(
            ["status": wrong == 0 ? "ok" : "error", "trials": .array(trials)],
            lines.map(DisplayText.escaped) + (wrong == 0 ? [] : [""] + table.lines))
        guard wrong > 0 else { return }
        var failure = ClientFailure(
            exitCode: .failed, code: "access_differs",
            text: "The broker decides \(counted(wrong, "action")) in another way than the access rules",
            hint: "print the rules with jacquard2mqtt acl mosquitto, and reload the broker")
        failure.isPrinted = true
        throw failure
    }
}

/// A user of the broker and its role.
struct AccessLogin: Hashable, Sendable {
    let role: AccessRole
    let user: String?
    let password: Secret?

    /// The logins of a file, or that of the configuration.
    static func all(_ command: AccessTryCommand, _ configuration: Settings) throws(ClientFailure) -> [AccessLogin] {
        guard let path = command.logins else {
            return [
                AccessLogin(
                    role: command.role, user: configuration.mqtt.username, password: configuration.mqtt.password)
            ]
        }
        let text: String
        do throws(FileError) {
            text = String(decoding: try FileContents(path: path, limit: 65_536).bytes, as: UTF8.self)
        } catch {
            throw failure("\(path): \(error.reason)", "write a file with a line ROLE USER PASSWORD for each login")
        }
        return try parse(text, path)
    }

    /// Reads lines such as `dashboard grafana secret`. Lines that are empty or start with `#` are comments.
    static func parse(_ text: String, _ path: String) throws(ClientFailure) -> [AccessLogin] {
        var logins: [AccessLogin] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(separator: " ", maxSplits: 2)
            if words.isEmpty || line.hasPrefix("#") { continue }
            guard words.count == 3 else {
                throw failure("\(path):\(index + 1): not three words", "write ROLE USER PASSWORD")
            }
            guard let role = AccessRole(rawValue: String(words[0])) else {
                let roles = AccessRole.allCases.map(\.rawValue).joined(separator: ", ")
                throw failure("\(path):\(index + 1): \(words[0]) is no role", "allowed: \(roles)")
            }
            logins.append(AccessLogin(role: role, user: String(words[1]), password: Secret(value: String(words[2]))))
        }
        guard !logins.isEmpty else { throw failure("\(path): no login", "write ROLE USER PASSWORD") }
        return logins
    }

    private static func failure(_ text: String, _ hint: String) -> ClientFailure {
        ClientFailure(exitCode: .failed, code: "invalid_logins", text: text, hint: hint)
    }
}

/// The outcome of a trial.
struct AccessResult: Hashable, Sendable {
    let trial: AccessTrial
    /// Whether the broker allowed it; nil if it could not be tried.
    let isDone: Bool?

    /// Whether the broker allows what the role may not do, or the other way round.
    var isWrong: Bool { isDone.map { $0 != trial.isAllowed } ?? false }

    func document(_ login: AccessLogin) -> JSONValue {
        [
            "role": .string(login.role.rawValue), "user": JSONValue(login.user),
            "action": .string(trial.action.rawValue), "topic": .string(trial.topic),
            "allowed": .bool(trial.isAllowed),
            "done": isDone.map(JSONValue.bool) ?? .null,
        ]
    }
}

/// A login that tries its actions.
@LoopActor
private final class AccessPlayer {
    let login: AccessLogin
    let session: BrokerSession
    private(set) var results: [AccessResult] = []
    private let trials: [AccessTrial]
    /// Topics of messages that arrived while the session published.
    private var received: Set<String> = []

    init(_ login: AccessLogin, _ context: ClientContext, trials: [AccessTrial]) {
        self.login = login
        self.trials = trials
        var configuration = context.configuration
        configuration.mqtt.username = login.user
        configuration.mqtt.password = login.password
        session = BrokerSession(configuration, log: context.log)
    }

    /// Connects.
    ///
    /// - Throws: `noConnection`; `protocol_too_old` if the broker does not report denied publications.
    func open() async throws(ClientFailure) {
        do throws(ClientFailure) {
            try await session.open()
        } catch {
            guard let user = login.user else { throw error }
            throw ClientFailure(
                exitCode: error.exitCode, code: error.code, text: "User \(user): \(error.text)", hint: error.hint)
        }
        guard session.version == .v5 else {
            throw ClientFailure(
                exitCode: .failed, code: "protocol_too_old",
                text: "The broker uses MQTT 3.1.1, which does not report denied publications",
                hint: "set mqtt.version to auto or 5, or use a broker for MQTT 5")
        }
    }

    /// Publishes to each topic, and collects the broker's decisions.
    func tryPublishing() async throws(ClientFailure) {
        let tried = trials.filter { $0.action == .publish }
        let accepted = try await publish(to: tried.map(\.topic))
        results += zip(tried, accepted).map { AccessResult(trial: $0, isDone: $1) }
    }

    /// Publishes an empty message to each topic.
    ///
    /// - Returns: whether the broker has accepted each one.
    func publish(to topics: [String]) async throws(ClientFailure) -> [Bool] {
        let tickets = topics.map { session.publish($0) }
        var decisions: [UInt64: Bool] = [:]
        let deadline = Instant.now + BrokerSession.patience
        while decisions.count < tickets.count {
            switch await session.next(until: deadline) {
            case .taken(let ticket): decisions[ticket] = true
            case .refused(let ticket, _): decisions[ticket] = false
            case .lost(let error): throw .lost(error.text)
            case .interrupted: throw .interrupted
            case .message(let message): received.insert(message.topic)
            case .connected: break
            case nil: throw .lost("no answer within \(BrokerSession.patience.components.seconds) s")
            }
        }
        return tickets.map { decisions[$0] == true }
    }

    /// Subscribes to each topic, lets a login publish that may, and looks which messages arrive.
    func tryReading(from players: [AccessPlayer]) async throws(ClientFailure) {
        let tried = trials.filter { $0.action == .read }
        received = Set(try await session.snapshot(of: tried.map(\.topic)).map(\.topic))
        var published: Set<String> = []
        for player in players {
            let topics = player.results.filter { $0.trial.action == .publish && $0.isDone == true }.map(\.trial.topic)
                .filter { !published.contains($0) }
            _ = try await player.publish(to: topics)
            published.formUnion(topics)
        }
        received.formUnion(try await session.snapshot(of: []).map(\.topic))
        results += tried.map { trial in
            // The broker publishes its own topics.
            let canBeRead = published.contains(trial.topic) || trial.topic.hasPrefix("$")
            return AccessResult(trial: trial, isDone: canBeRead ? received.contains(trial.topic) : nil)
        }
    }
}
