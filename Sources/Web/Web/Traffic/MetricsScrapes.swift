import Bridge
import JSON
import Time

/// The queries of `GET metrics` to the bridges: for each bridge one at a time and at most one a second, whatever number of
/// readers waits for it.
///
/// A query is one request or several, see the topic `request/metrics`.
struct MetricsScrapes {
    /// How long the text of a query is used for other readers, from the beginning of the query.
    static let interval = Duration.seconds(1)
    /// How long a query may take.
    static let patience = Duration.seconds(5)
    /// Upper bound of the text of a query in bytes.
    static let textLimit = 4 << 20
    /// Upper bound of the queries in progress and the texts in memory together.
    static let mostBridges = 16

    /// Identifies a reader.
    typealias Reader = UInt64

    /// A request to publish.
    struct Request: Hashable {
        let bridge: String
        let payload: [UInt8]
    }

    /// How a query has ended.
    enum Outcome: Equatable {
        case text(MetricsText)
        /// Why there is no text: a sentence.
        case failed(String)
    }

    /// The next step.
    enum Step: Equatable {
        /// Wait for the bridge.
        case wait
        /// Publish the request.
        case ask(Request)
        /// Send the outcome to the readers.
        case end([Reader], Outcome)
    }

    private struct Scrape {
        let began: Instant
        /// The `id` of the request in progress.
        var id: String
        var readers: [Reader]
        var text = MetricsText()
        var bytes = 0
        var outcome: Outcome?

        /// When the query has failed, or its text is too old.
        var end: Instant { began + (outcome == nil ? patience : interval) }
    }

    private let boot: String
    private var scrapes: [String: Scrape] = [:]
    private var requests = 0

    init(boot: String) {
        self.boot = boot
    }

    /// When ``deadlineReached(at:)`` is due.
    var deadline: Instant? { scrapes.values.map(\.end).min() }

    /// Adds a reader of a bridge's metrics.
    mutating func add(_ reader: Reader, of bridge: String, at now: Instant) -> Step {
        if let scrape = scrapes[bridge], scrape.end > now {
            if let outcome = scrape.outcome { return .end([reader], outcome) }
            scrapes[bridge]?.readers.append(reader)
            return .wait
        }
        guard scrapes.count < Self.mostBridges || scrapes[bridge] != nil else {
            return .end([reader], .failed("Too many bridges are queried at a time. Try again in a second."))
        }
        scrapes[bridge] = Scrape(began: now, id: "", readers: [reader])
        return ask(bridge, after: nil)
    }

    /// Removes a reader that makes room for another one.
    mutating func remove(_ reader: Reader) -> Step {
        for bridge in scrapes.keys { scrapes[bridge]?.readers.removeAll { $0 == reader } }
        return .end([reader], .failed("Too many programs wait for metrics. Try again in a second."))
    }

    private mutating func ask(_ bridge: String, after tag: String?) -> Step {
        requests += 1
        let id = "web-\(boot)-metrics-\(requests)"
        scrapes[bridge]?.id = id
        var payload: [String: JSONValue] = ["id": .string(id)]
        if let tag { payload["after"] = .string(tag) }
        return .ask(Request(bridge: bridge, payload: JSONText.bytes(of: JSONValue.object(payload))))
    }

    /// Handles a result of `request/metrics`. Those of other clients are ignored.
    mutating func received(_ payload: [UInt8], of bridge: String, at now: Instant) -> Step {
        guard let scrape = scrapes[bridge], scrape.outcome == nil, let document = JSONValue(parsing: payload),
            document["id"]?.string == scrape.id
        else { return .wait }
        switch document["status"]?.string {
        case "accepted": return .wait
        case "ok":
            guard let part = document["data"]?["text"]?.string, scrape.bytes + part.utf8.count <= Self.textLimit else {
                return end(bridge, .failed("The metrics of the bridge are larger than \(Self.textLimit >> 20) MiB."))
            }
            scrapes[bridge]?.text.append(part)
            scrapes[bridge]?.bytes += part.utf8.count
            if let next = document["data"]?["next"]?.string { return ask(bridge, after: next) }
            return end(bridge, .text(scrapes[bridge]?.text ?? MetricsText()))
        default:
            let text = document["error"]?["text"]?.string ?? "The bridge reports an error without a text."
            return end(bridge, .failed(text))
        }
    }

    /// Ends the query of a bridge to which the request cannot be sent.
    mutating func failed(_ bridge: String, _ text: String) -> Step {
        end(bridge, .failed(text))
    }

    private mutating func end(_ bridge: String, _ outcome: Outcome) -> Step {
        guard let readers = scrapes[bridge]?.readers else { return .wait }
        scrapes[bridge]?.readers = []
        scrapes[bridge]?.text = MetricsText()
        scrapes[bridge]?.outcome = outcome
        return .end(readers, outcome)
    }

    /// Ends the queries that have taken too long, and removes texts that are too old.
    mutating func deadlineReached(at now: Instant) -> [Step] {
        let due = scrapes.filter { $0.value.end <= now }
        for bridge in due.keys { scrapes[bridge] = nil }
        return due.filter { $0.value.outcome == nil }.sorted { $0.key < $1.key }.map { bridge, scrape in
            .end(
                scrape.readers,
                .failed(
                    "The bridge \(bridge) has not answered within \(Self.patience.components.seconds) seconds."))
        }
    }
}
