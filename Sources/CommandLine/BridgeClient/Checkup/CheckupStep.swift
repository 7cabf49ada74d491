import JSON
import JacquardProtocol

/// The result of `checkup` about a feature.
enum CheckupVerdict: Hashable, Sendable {
    /// It works; with a value, if there is one.
    case works(String)
    /// It differs from what the bridge expects.
    case differs(String)
    /// The tag does not have it, or did not respond.
    case missing(String)
    /// It was not tried.
    case skipped(String)

    /// The word in the table and in the report.
    var word: String {
        switch self {
        case .works: "works"
        case .differs: "differs"
        case .missing: "missing"
        case .skipped: "skipped"
        }
    }

    /// The details.
    var detail: String {
        switch self {
        case .works(let text), .differs(let text), .missing(let text), .skipped(let text): text
        }
    }

    /// Whether the feature works or was not tried.
    var isFine: Bool {
        switch self {
        case .works, .skipped: true
        case .differs, .missing: false
        }
    }
}

/// A row of the table of `checkup`.
struct CheckupFinding: Hashable, Sendable {
    /// A stable name for scripts, such as `battery`.
    let name: String
    /// The name of the feature, for people.
    let title: String
    /// The verdict.
    let verdict: CheckupVerdict
    /// How long the response or the owner took; nil if nothing was waited for.
    var milliseconds: Int64?

    /// `{"feature","result","detail","took_ms"}`
    var document: JSONValue {
        [
            "feature": .string(name), "result": .string(verdict.word), "detail": .string(verdict.detail),
            "took_ms": milliseconds.map(JSONValue.integer) ?? .null,
        ]
    }
}

/// The known facts of the tag while a checkup runs: the latest message of each of its topics.
struct CheckupFacts: Sendable {
    private var latest: [String: JSONValue]
    /// The slides over the lines since the tag streams touches.
    var slides = CheckupSlides()

    /// Creates facts from retained messages.
    init(_ latest: [String: JSONValue] = [:]) {
        self.latest = latest
    }

    /// The latest message of a topic of the tag, such as `battery`.
    subscript(topic: String) -> JSONValue? {
        get { latest[topic] }
        set { latest[topic] = newValue }
    }

    /// Whether commands reach the tag.
    var isConnected: Bool { latest["availability"] == "online" }
    /// Whether gear is attached.
    var isAttached: Bool { latest["gear"]?["attached"]?.flag == true }

    /// Whether the attached gear has a capability. Gear without a list of capabilities may have it.
    func mayHave(_ capability: String) -> Bool {
        guard let capabilities = latest["gear"]?["capabilities"]?.elements else { return isAttached }
        return capabilities.contains(.string(capability))
    }
}

/// A step of a checkup.
struct CheckupStep: Sendable {
    /// The work of a step.
    enum Work: Sendable {
        /// Sends a command; its result is judged.
        case command(String, [String: JSONValue])
        /// Waits for a message on a topic of the tag.
        case observe(String)
        /// Judges what is known.
        case look
    }

    /// A stable name for scripts, such as `battery`.
    let name: String
    /// The name of the feature, for people.
    let title: String
    /// The owner's part; nil if there is none.
    var instruction: String?
    /// Whether the step is left out without the owner; always so with an instruction.
    var needsOwner = false
    /// A question after a success, which the owner answers with yes or no; nil for none.
    var question: String?
    /// The verdict for a negative answer.
    var contradiction = ""
    /// The work of the step.
    let work: Work
    /// How long to wait.
    var limit = CheckupStep.commandLimit
    /// Whether the tag has to be connected.
    var needsTag = true
    /// Returns why the step is skipped; nil: it is not.
    var obstacle: @Sendable (CheckupFacts) -> String? = { _ in nil }
    /// The verdict when the time is over; nil: nothing was received.
    var unfinished: @Sendable (CheckupFacts) -> CheckupVerdict? = { _ in nil }
    /// Judges a result or a message; nil: it is not the expected message.
    let judge: @Sendable (JSONValue, CheckupFacts) -> CheckupVerdict?

    /// Longer than the bridge waits for the tag.
    static let commandLimit = Duration.seconds(45)
    /// How long the owner has.
    static let ownerLimit = Duration.seconds(30)
}

extension CheckupVerdict {
    /// The verdict for a failed command.
    init(failure result: JSONValue) {
        let text = result["error"]?["text"]?.string ?? "no reason"
        self =
            switch result["error"]?["code"]?.string {
            case "unsupported", "timeout", "link_lost", "expired", "tag_offline": .missing(text)
            case "tag_error" where text.hasSuffix(Status.unsupported.description): .missing(text)
            default: .differs(text)
            }
    }
}
