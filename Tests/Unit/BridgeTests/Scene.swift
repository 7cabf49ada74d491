import FoundationEssentials
public import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

/// A bridge called `attic` whose time is set by the test. Publications are written as `topic payload`.
final class Scene {
    var state: BridgeState
    var now: Timestamp
    /// The tokens of all actions that have one, in order.
    var tokens: [UInt64] = []
    /// The commands sent to tags, in order.
    var performed: [TagCommand] = []
    /// All other actions, in order.
    var actions: [BridgeAction] = []
    /// Every publication so far.
    var publications: [Publication] = []
    /// The problems whose findings are as expected.
    var examined: Set<Problem.Key> = []

    /// 2026-11-20T10:15:02.114Z, an hour after the start of the machine.
    static let beginning = Timestamp(instant: Instant(sinceBoot: .seconds(3_600)), unixMilliseconds: 1_795_169_702_114)

    init(
        tags: [TagEntry] = [.tag003R], records: [TagRecord] = [], commandsPerTag: Int = 32, chords: [Chord] = [],
        reflexes: [Reflex] = [], groups: [String: [TagID]] = [:], earlier: EarlierRuns = EarlierRuns()
    ) {
        var configuration = Self.configuration(
            tags: tags, commandsPerTag: commandsPerTag, chords: chords, reflexes: reflexes)
        configuration.groups = groups
        state = BridgeState(
            configuration: configuration, records: records, earlier: earlier, boot: "9f3c", startedAt: Self.beginning)
        now = Self.beginning
    }

    /// The configuration of the bridge `attic`.
    static func configuration(
        tags: [TagEntry] = [.tag003R], ledOn: Duration = .seconds(10), commandsPerTag: Int = 32, chords: [Chord] = [],
        reflexes: [Reflex] = []
    ) -> BridgeConfiguration {
        var options = BridgeOptions()
        (options.ledOn, options.commandsPerTag, options.chords) = (ledOn, commandsPerTag, chords)
        return BridgeConfiguration(
            instance: "attic", version: "0.1.0", tags: tags, reflexes: reflexes, options: options)
    }

    /// A bridge whose tag is connected.
    static func connected(tags: [TagEntry] = [.tag003R], commandsPerTag: Int = 32) -> Scene {
        let scene = Scene(tags: tags, commandsPerTag: commandsPerTag)
        scene.connect()
        return scene
    }

    /// Records actions and returns the publications as lines.
    @discardableResult
    func note(_ actions: [BridgeAction]) -> [String] {
        var lines: [String] = []
        for action in actions {
            switch action {
            case .publish(let publication):
                publications.append(publication)
                lines.append(publication.line)
                checkRow(of: publication)
            case .perform(let command, _, let token, _):
                performed.append(command)
                tokens.append(token)
            default:
                self.actions.append(action)
                if let token = action.token { tokens.append(token) }
            }
        }
        return lines
    }

    /// A message of a tag is retained, or one of many samples, as its row in the table of topics says.
    private func checkRow(of publication: Publication) {
        guard let levels = publication.topic.topic(below: "jacquard/tag"), let slash = levels.firstIndex(of: "/"),
            let row = TagTopicTable.rows.first(where: { $0.name == levels[slash...].dropFirst() })
        else { return }
        #expect(row.isFact == publication.message.isRetained, "\(publication.topic)")
        #expect((row.kind == .stream) == (publication.kind == .stream), "\(publication.topic)")
    }

    /// Passes an event to the bridge and returns its publications as lines.
    @discardableResult
    func handle(_ event: BridgeEvent) -> [String] {
        defer { expectFindings() }
        return note(state.handle(event, at: now))
    }

    func connect(_ tag: TagID = .tag003R) {
        report(.connection(TagConnection(state: .connected, attempt: 1)), of: tag)
    }

    func disconnect() {
        report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
    }

    @discardableResult
    func report(_ event: TagEvent, of tag: TagID = .tag003R) -> [String] {
        handle(.tag(state.handle(of: tag) ?? .none, event))
    }

    @discardableResult
    func send(_ topic: String, _ payload: String) -> [String] {
        receive(MQTTMessage(topic: "jacquard/" + topic, payload: Array(payload.utf8)))
    }

    @discardableResult
    func receive(_ message: MQTTMessage) -> [String] {
        handle(.message(message))
    }

    /// The tag answers the command that was sent last.
    @discardableResult
    func answer(_ response: TagCommandResponse = .done) -> [String] {
        report(.commandEnded(token: tokens.last ?? 0, .success(response)))
    }

    /// The command that was sent last fails.
    @discardableResult
    func fail(_ error: TagCommandError) -> [String] {
        report(.commandEnded(token: tokens.last ?? 0, .failure(error)))
    }

    /// The driver's last action has succeeded.
    @discardableResult
    func done(_ answer: RequestResponse = .done) -> [String] {
        handle(.requestEnded(token: tokens.last ?? 0, .success(answer)))
    }

    /// The driver's last action has failed.
    @discardableResult
    func notDone(_ error: RequestError) -> [String] {
        handle(.requestEnded(token: tokens.last ?? 0, .failure(error)))
    }

    /// Removes and returns the actions besides publications and commands to tags.
    func takeActions() -> [BridgeAction] {
        defer { actions = [] }
        return actions
    }

    /// Bluetooth becomes ready.
    @discardableResult
    func powerOn() -> [String] {
        handle(.bluetooth(.poweredOn))
    }

    /// Advances the time, and reports each deadline when it is reached.
    @discardableResult
    func wait(_ duration: Duration) -> [String] {
        let end = now + duration
        var lines: [String] = []
        while let deadline = state.deadline, deadline <= end.instant {
            now = now + max(.zero, deadline - now.instant)
            lines += handle(.deadlineReached)
        }
        now = end
        return lines
    }
}

extension BridgeOptions {
    /// The defaults, with all that features of tags may be allowed to do.
    static var allowingAllFeatures: BridgeOptions {
        var options = BridgeOptions()
        for key in FeatureTable.keys {
            switch key.value {
            case .flag(let path): options[keyPath: path] = true
            case .folder(let path): options[keyPath: path] = "/sessions"
            case .section, .integer, .seconds: break
            }
        }
        return options
    }
}

extension BridgeAction {
    /// Identifies the driver's response; nil if there is none.
    var token: UInt64? {
        switch self {
        case .perform(_, _, let token, _), .scan(_, let token), .stopScan(let token),
            .pair(_, _, _, _, _, let token), .forget(_, let token), .measure(let token), .examine(let token),
            .trace(_, let token), .recallLog(_, _, let token):
            token
        case .publish, .withhold, .republish, .connect, .disconnect, .subscribe, .unsubscribe, .setLogLevel, .followLog,
            .addTag, .reportAgain, .removeTag, .stopPairing,
            .forgetInstance, .forgetFormerPlaces, .recordTraffic, .observeRawData, .file, .remember,
            .forgetRecord:
            nil
        }
    }
}

extension Publication {
    var text: String { String(decoding: payload, as: UTF8.self) }

    var line: String { "\(topic) \(text)" }
}

extension TagHandle: ExpressibleByIntegerLiteral {
    /// The first tag of a scene.
    static let tag003R: TagHandle = 1

    /// A handle as a number.
    public init(integerLiteral number: UInt16) {
        self.init(number: number)
    }
}

extension TagID {
    static let tag003R = known("003R")

    /// An id that is valid.
    static func known(_ text: String) -> TagID {
        TagID(stringLiteral: text)
    }
}

extension TagEntry {
    static let tag003R = TagEntry(id: .tag003R, serial: "003R")
}

extension Component {
    static let tag = Component(
        componentID: Component.tagComponentID,
        vendor: Name(id: .google, name: "Google Inc."),
        product: Name(id: .tag, name: "28-3b-e7-a0"),
        capabilities: [.led],
        version: FirmwareVersion(1, 2, 3),
        uuid: "0-07-9324FLHBK0003R-1903")

    static let jacket = Component(
        componentID: 101,
        vendor: Name(id: JacquardIdentifier(rawValue: 0x74A8_CE54), name: "Levi's"),
        product: Name(id: JacquardIdentifier(rawValue: 0x8A66_50F4), name: "Trucker Jacket"),
        capabilities: [.gesture, .touchDataStream, .haptic],
        version: FirmwareVersion(1, 2, 3), uuid: "4-07-JKT")
}

/// The error of a parsed result.
struct ResultError: Decodable, Equatable {
    let code: String
    let text: String
    let hint: String?
    let retryable: Bool
}

/// A parsed result.
struct CommandResult: Decodable, Equatable {
    let id: String?
    let status: String
    let final: Bool
    let error: ResultError?
    let tookMilliseconds: Int
    let time: String
    let bridge: String

    private enum CodingKeys: String, CodingKey {
        case id, status, final, error, time, bridge
        case tookMilliseconds = "took_ms"
    }
}

extension Scene {
    /// All results so far.
    var results: [CommandResult] {
        publications.compactMap { publication in
            guard case .result = publication.kind else { return nil }
            return try? JSONDecoder().decode(CommandResult.self, from: Data(publication.payload))
        }
    }

    /// The error of the last result.
    var lastError: ResultError? { results.last?.error }
}
