import Bridge
import EventLoop
import HTTPServer
import Time

/// The readers of metrics that wait for a bridge.
struct MetricsReaders {
    /// A waiting reader.
    struct Waiting {
        let reply: HTTPReply
        let format: MetricsText.Format
        let owner: String
    }

    /// The most readers.
    static let mostReaders = 8

    private var readers: [MetricsScrapes.Reader: Waiting] = [:]
    private var shares = FairShares<String, MetricsScrapes.Reader>(total: Self.mostReaders)
    private var last: MetricsScrapes.Reader = 0

    /// Adds a reader.
    ///
    /// - Returns: its number, and the number of the reader that made room.
    mutating func add(_ reader: Waiting) -> (added: MetricsScrapes.Reader, lost: MetricsScrapes.Reader?) {
        last += 1
        readers[last] = reader
        return (last, shares.add(last, of: reader.owner))
    }

    /// Removes and returns a reader.
    mutating func remove(_ reader: MetricsScrapes.Reader) -> Waiting? {
        let removed = readers.removeValue(forKey: reader)
        if let removed { shares.remove(reader, of: removed.owner) }
        return removed
    }
}

/// `GET metrics`: asks bridges, and answers all readers. Decisions are made by ``MetricsScrapes``.
extension WebService {
    func scrape(_ bridge: String, _ format: MetricsText.Format, of owner: String, _ reply: HTTPReply) {
        let (reader, lost) = readers.add(.init(reply: reply, format: format, owner: owner))
        if let lost { perform(page.scrapes.remove(lost)) }
        perform(page.scrapes.add(reader, of: bridge, at: .now))
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
                guard let waiting = readers.remove(reader) else { continue }
                send(PageServer.response(outcome, waiting.format), waiting.reply)
            }
        }
        scraping.arm(at: page.scrapes.deadline)
    }
}
