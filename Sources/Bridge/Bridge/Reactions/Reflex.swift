import JSON
public import JacquardProtocol
import Time

/// A command that the bridge itself gives a tag when something happens (`reflexes` in the configuration).
///
/// Reflexes cannot form a loop. A reflex is triggered by a ``Trigger`` only: something that a user does with a tag, a
/// falling battery level, or the connection to the broker. Its request plays a pattern on an LED or a motor, and what
/// follows from that are responses of the tag and publications. No trigger can be made of either.
public struct Reflex: Equatable, Sendable {
    /// The trigger of a reflex.
    public enum Trigger: Hashable, Sendable {
        /// A gesture or a chord, by its `event_type`.
        case event(String)
        /// Gear is attached to a tag, or detached.
        case gear(isAttached: Bool)
        /// A battery level falls below this one, in percent.
        case batteryBelow(UInt32)
        /// The broker is connected again, or lost.
        case broker(isConnected: Bool)
    }

    /// Its trigger.
    public var trigger: Trigger
    /// The tags whose events trigger it; empty for all tags.
    public var sources: Set<TagID>
    /// The tag that gets the command; nil for the tag of the event, and for `broker` all connected tags.
    public var target: TagID?
    /// The command.
    public var request: ReflexRequest
    /// How long the reflex ignores further events of the same tag.
    public var cooldown: Duration

    /// Describes a reflex.
    public init(
        on trigger: Trigger, from sources: Set<TagID> = [], to target: TagID? = nil, request: ReflexRequest,
        cooldown: Duration = .milliseconds(300)
    ) {
        self.trigger = trigger
        self.sources = sources
        self.target = target
        self.request = request
        self.cooldown = cooldown
    }
}

extension Reflex.Trigger {
    /// The trigger as the configuration has it; the `id` of the results.
    var text: String {
        switch self {
        case .event(let name): name
        case .gear(let isAttached): isAttached ? "gear attached" : "gear detached"
        case .batteryBelow(let level): "battery_below \(level)"
        case .broker(let isConnected): isConnected ? "broker back" : "broker lost"
        }
    }
}

/// The command of a reflex: `led`, `haptic` or `notify`, and the payload of the command with that name on MQTT, such as
/// `led flash` or `haptic {"pattern":"constant_on","on_ms":50}`.
public struct ReflexRequest: Hashable, Sendable {
    /// The command as it was written.
    public let text: String
    let row: any TagRequest.Type
    let payload: CommandPayload

    /// The commands by their first word.
    private static let rows: [String: any TagRequest.Type] = [
        "led": LEDSet.self, "haptic": HapticSet.self, "notify": NotifySet.self,
    ]

    /// Parses a command.
    ///
    /// - Throws: ``Problem`` for one that would be rejected.
    public init(_ text: String) throws(Problem) {
        self.text = text
        let words = text.split(separator: " ", maxSplits: 1)
        guard let row = words.first.flatMap({ Self.rows[String($0)] }) else {
            throw Problem(text: "does not begin with led, haptic or notify")
        }
        self.row = row
        do throws(CommandFailure) {
            payload = try CommandPayload(Array((words.count == 2 ? words[1] : "").utf8))
            if case .object(let arguments) = payload { try arguments.check() }
            // The configuration checks the names of signals.
            let context = TagRequestContext(checkingSignal: signalName)
            _ = try row.init(payload, in: context)
        } catch {
            throw Problem(text: "is refused: \(error.text)")
        }
    }

    /// The name of the signal that it gives; nil if it gives none.
    public var signalName: String? {
        guard row is NotifySet.Type else { return nil }
        switch payload {
        case .empty: return nil
        case .text(let name): return name
        case .object(let arguments): return arguments["signal"]?.string
        }
    }

    /// Returns why a command is refused; nil if it is valid.
    public static func problem(with text: String) -> String? {
        do throws(Problem) {
            _ = try ReflexRequest(text)
            return nil
        } catch {
            return error.text
        }
    }

    /// Why a command is refused; reads on after the command.
    public struct Problem: Error, Hashable {
        /// The predicate of the sentence.
        public let text: String
    }

    /// Returns whether both are written alike.
    public static func == (left: ReflexRequest, right: ReflexRequest) -> Bool {
        ExactText(left.text) == ExactText(right.text)
    }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(text))
    }
}
