import Bridge
import HTTPServer
import JSON
import Testing
import Time

@testable import Web

@Suite("Queries of metrics")
struct MetricsScrapesTests {
    private let start = Instant(sinceBoot: .seconds(1_000))
    private static let text = "# HELP a h\n# TYPE a gauge\na 1\n"

    private func scrapes() -> MetricsScrapes { MetricsScrapes(boot: "b1") }

    private static func request(_ number: Int, after tag: String? = nil, of bridge: String = "attic")
        -> MetricsScrapes.Step
    {
        let after = tag.map { #""after":"\#($0)","# } ?? ""
        let payload = #"{\#(after)"id":"web-b1-metrics-\#(number)"}"#
        return .ask(.init(bridge: bridge, payload: Array(payload.utf8)))
    }

    private static func result(_ number: Int, _ text: String = text, next: String? = nil) -> [UInt8] {
        JSONText.bytes(
            of: [
                "id": .string("web-b1-metrics-\(number)"), "status": "ok",
                "data": ["text": .string(text), "next": next.map(JSONValue.string) ?? .null],
            ] as JSONValue)
    }

    private static func outcome(_ parts: String...) -> MetricsScrapes.Outcome {
        var text = MetricsText()
        for part in parts { text.append(part) }
        return .text(text)
    }

    @Test("ask the bridge once for all readers, and use the text for a second")
    func shared() {
        var scrapes = scrapes()
        #expect(scrapes.deadline == nil)
        #expect(scrapes.add(1, of: "attic", at: start) == Self.request(1))
        #expect(scrapes.add(2, of: "attic", at: start + .milliseconds(100)) == .wait)
        #expect(scrapes.deadline == start + MetricsScrapes.patience)
        let outcome = Self.outcome(Self.text)
        #expect(scrapes.received(Self.result(1), of: "attic", at: start + .milliseconds(200)) == .end([1, 2], outcome))
        #expect(scrapes.add(3, of: "attic", at: start + .milliseconds(999)) == .end([3], outcome))
        #expect(scrapes.deadline == start + MetricsScrapes.interval)
        #expect(scrapes.add(4, of: "attic", at: start + .milliseconds(1_000)) == Self.request(2))
    }

    @Test("answer a reader at once who makes room for another one")
    func removed() {
        var scrapes = scrapes()
        _ = scrapes.add(1, of: "attic", at: start)
        _ = scrapes.add(2, of: "attic", at: start)
        #expect(scrapes.remove(1) == .end([1], .failed("Too many programs wait for metrics. Try again in a second.")))
        #expect(scrapes.received(Self.result(1), of: "attic", at: start) == .end([2], Self.outcome(Self.text)))
    }

    @Test("ask for all parts, and keep nothing after a second")
    func parts() {
        var scrapes = scrapes()
        _ = scrapes.add(1, of: "attic", at: start)
        #expect(
            scrapes.received(Self.result(1, next: "003R"), of: "attic", at: start) == Self.request(2, after: "003R"))
        // The result of the first request again.
        #expect(scrapes.received(Self.result(1), of: "attic", at: start) == .wait)
        let outcome = Self.outcome(Self.text, Self.text)
        #expect(scrapes.received(Self.result(2), of: "attic", at: start) == .end([1], outcome))
        #expect(scrapes.deadlineReached(at: start + .milliseconds(999)).isEmpty)
        #expect(scrapes.deadline != nil)
        #expect(scrapes.deadlineReached(at: start + .seconds(1)).isEmpty)
        #expect(scrapes.deadline == nil)
    }

    @Test("ignore results of other clients, and those that come late")
    func foreign() {
        var scrapes = scrapes()
        #expect(scrapes.received(Self.result(1), of: "attic", at: start) == .wait)
        _ = scrapes.add(1, of: "attic", at: start)
        for payload in ["", "{", "[]", "{}", #"{"id":"cli-1","status":"ok","data":{"text":"x"}}"#] {
            #expect(scrapes.received(Array(payload.utf8), of: "attic", at: start) == .wait)
        }
        #expect(scrapes.received(Self.result(1), of: "hall", at: start) == .wait)
        let accepted = #"{"id":"web-b1-metrics-1","status":"accepted"}"#
        #expect(scrapes.received(Array(accepted.utf8), of: "attic", at: start) == .wait)
        #expect(scrapes.received(Self.result(1), of: "attic", at: start) == .end([1], Self.outcome(Self.text)))
        #expect(scrapes.received(Self.result(1), of: "attic", at: start) == .wait)
    }

    @Test("end with the bridge's error")
    func failure() {
        var scrapes = scrapes()
        _ = scrapes.add(1, of: "attic", at: start)
        let error = #"{"id":"web-b1-metrics-1","status":"error","error":{"code":"busy","text":"Too much"}}"#
        #expect(scrapes.received(Array(error.utf8), of: "attic", at: start) == .end([1], .failed("Too much")))
        // Not repeated within the second either.
        #expect(scrapes.add(2, of: "attic", at: start) == .end([2], .failed("Too much")))
    }

    @Test("end after five seconds without an answer, and ask again")
    func silence() {
        var scrapes = scrapes()
        _ = scrapes.add(1, of: "attic", at: start)
        _ = scrapes.add(2, of: "attic", at: start + .seconds(4))
        #expect(scrapes.deadlineReached(at: start + .milliseconds(4_999)).isEmpty)
        let text = "The bridge attic has not answered within 5 seconds."
        #expect(scrapes.deadlineReached(at: start + .seconds(5)) == [.end([1, 2], .failed(text))])
        #expect(scrapes.add(3, of: "attic", at: start + .seconds(5)) == Self.request(2))
    }

    @Test("end at once if the request cannot be published")
    func unsent() {
        var scrapes = scrapes()
        _ = scrapes.add(1, of: "attic", at: start)
        #expect(scrapes.failed("attic", "no") == .end([1], .failed("no")))
    }

    @Test("are bounded: 16 bridges, and 4 MiB of text for each")
    func bounds() {
        var scrapes = scrapes()
        for number in 1...16 {
            #expect(scrapes.add(1, of: "b\(number)", at: start) == Self.request(number, of: "b\(number)"))
        }
        guard case .end([2], .failed) = scrapes.add(2, of: "b17", at: start) else {
            Issue.record("a query too many")
            return
        }
        #expect(scrapes.add(2, of: "b1", at: start) == .wait)
        let part = Self.text + String(repeating: "a 1\n", count: 1 << 18)
        var number = 1
        var step = MetricsScrapes.Step.wait
        for next in 17...24 {
            step = scrapes.received(Self.result(number, part, next: "x"), of: "b1", at: start)
            number = next
            if case .end = step { break }
        }
        guard case .end([1, 2], .failed(let text)) = step else {
            Issue.record("more than 4 MiB")
            return
        }
        #expect(text.contains("4 MiB"))
        #expect(number <= 20)
    }

    @Test("are answered in the format that the reader has asked for")
    func response() {
        let outcome = Self.outcome(Self.text)
        let plain = PageServer.response(outcome, .prometheus)
        #expect(plain.status == 200)
        #expect(plain["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(String(decoding: plain.body, as: UTF8.self) == Self.text)
        let open = PageServer.response(outcome, .openMetrics)
        #expect(open["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(String(decoding: open.body, as: UTF8.self) == Self.text + "# EOF\n")
        let failed = PageServer.response(.failed("no"), .openMetrics)
        #expect(failed.status == 503)
        #expect(JSONValue(parsing: failed.body)?["error"]?["text"] == "no")
    }

    @Test("have the bridge of their result's topic")
    func topics() {
        #expect(PageServer.metricsBridge("bridge/attic/response/metrics") == "attic")
        for other in [
            "bridge/attic/response/tags", "bridge/attic/metrics", "tag/attic/response/metrics", "bridge/a/b/metrics",
        ] {
            #expect(PageServer.metricsBridge(Substring(other)) == nil, "\(other)")
        }
    }
}
