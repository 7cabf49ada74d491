import Bridge
import EventLoop
import HTTPServer
import Time

/// The readers of metrics that wait for a bridge.
struct MetricsReaders {
    private var replies: [MetricsScrapes.Reader: (reply: HTTPReply, format: MetricsText.Format)] = [:]
    private var last: MetricsScrapes.Reader = 0

    /// Adds a reader and returns its number.
    mutating func add(_ reply: HTTPReply, _ format: MetricsText.Format) -> MetricsScrapes.Reader {
        last += 1
        replies[last] = (reply, format)
        return last
    }

    /// Removes and returns a reader.
    mutating func remove(_ reader: MetricsScrapes.Reader) -> (reply: HTTPReply, format: MetricsText.Format)? {
        replies.removeValue(forKey: reader)
    }
}

/// `GET metrics`: asks bridges, and answers all readers. Decisions are made by ``MetricsScrapes``.
extension WebService {
    func scrape(_ bridge: String, _ format: MetricsText.Format, _ reply: HTTPReply) {
        perform(page.scrapes.add(readers.add(reply, format), of: bridge, at: .now))
    }

    func receivedMetrics(_ payload: [UInt8], of bridge: String) {
        perform(page.scrapes.received(payload, of: bridge, at: .now))
    }

    func endScrapes() {
        for step in page.scrapes.deadlineReached(at: .now) { perform(step) }
        scraping.arm(at: page.scrapes.deadline)
    }

    private func perform(_ step: MetricsScrapes.Step) {
        switch step {
        case .wait: break
        case .ask(let request):
            let topic = "\(page.mirror.base)/bridge/\(request.bridge)/request/metrics"
            guard let failure = publish(topic, request.payload) else { break }
            return perform(page.scrapes.failed(request.bridge, failure))
        case .end(let ended, let outcome):
            for reader in ended {
                guard let (reply, format) = readers.remove(reader) else { continue }
                send(PageServer.response(outcome, format), reply)
            }
        }
        scraping.arm(at: page.scrapes.deadline)
    }
}
