import Configuration
import EventLoop
import HTTPServer
import JSON
import Logging
import MQTT
import MQTTTypes
import PasswordHash
import Time

/// The running page: one connection to the broker, the HTTP server, and a stream for each browser. Decisions are made by
/// ``PageServer``.
@LoopActor
final class WebService {
    var page: PageServer
    private let client: MQTTClient
    private let keys: OneTimeKeys
    private let state: StateFiles?
    private let log: Logger
    private let isFramed: Bool
    private var server: HTTPServer?
    private var metricsServer: HTTPServer?
    private var browsers: [ObjectIdentifier: Browser] = [:]
    private var shares = FairShares<String, ObjectIdentifier>(total: mostStreams)
    private var logins = LoginQueue<WaitingLogin>()
    private var touchTags: Set<String> = []
    private var lastTicket: UInt64 = 0
    /// The publication whose answer follows the stored messages of the broker; nil after it.
    private var lastStored: UInt64?
    /// The bridges that are asked whether they are there, by the tickets of the requests.
    private var asked: [UInt64: String] = [:]
    /// The readers of metrics that wait for a bridge.
    var readers = MetricsReaders()
    private(set) lazy var scraping = LoopTimer { [unowned self] in endScrapes() }
    private lazy var polling = LoopTimer { [unowned self] in endPolling() }
    private lazy var heartbeat = LoopTimer { [unowned self] in beat() }
    /// Gives the memory of ended connections back to the system.
    private lazy var memory = LoopTimer { ProcessMemory.release() }
    private lazy var cleaning = LoopTimer { [unowned self] in removeStale() }
    private lazy var keeping = LoopTimer { [unowned self] in keepHistory() }

    /// How often a browser gets a sign of life. The page reports silence after ten seconds.
    private static let heartbeatInterval = Duration.seconds(4)
    /// How long unused memory is kept.
    private static let memoryPause = Duration.seconds(5)
    /// How often the rows of the charts are stored.
    private static let historyInterval = Duration.seconds(3600)
    /// The most streams of browsers. Some of the server's connections are left for other requests.
    private static let mostStreams = 48
    /// How long bridges have to publish their facts again after the broker was away.
    private static let staleTime = Duration.seconds(20)

    /// A browser with an open stream.
    private struct Browser {
        let stream: HTTPStream
        let subscription: PageServer.Subscription
    }

    /// A login or a reader of metrics whose password was not checked yet.
    private struct WaitingLogin {
        let login: PageServer.Login
        let password: String
        let hash: String
        let reply: HTTPReply
        let next: @LoopActor (Bool) -> PageServer.Action
    }

    init(_ page: PageServer, client: MQTTClient, keys: OneTimeKeys, state: StateFiles?, log: Logger) {
        self.page = page
        self.client = client
        self.keys = keys
        self.state = state
        self.log = log
        isFramed = page.rules.authentication == .ingress
        client.onEvent = { [unowned self] in handle($0) }
    }

    /// Connects to the broker and accepts browsers.
    ///
    /// - Throws: ``HTTPServerError`` if the server does not start.
    func start(_ socket: ListeningSocket, _ configuration: HTTPServerConfiguration) throws(HTTPServerError) {
        server = try HTTPServer(socket, configuration, log: log) { [unowned self] in handle($0, $1) }
        server?.onConnectionEnd = { [unowned self] in memoryIsUnused() }
        client.start()
        keeping.arm(after: Self.historyInterval, accuracy: .seconds(60))
    }

    /// While connections go on to end, memory is released once in each pause: it would be allocated again.
    private func memoryIsUnused() {
        if !memory.isArmed { memory.arm(after: Self.memoryPause, accuracy: .seconds(1)) }
    }

    /// Accepts readers of metrics on a Unix socket.
    ///
    /// - Throws: ``HTTPServerError`` if the server does not start.
    func startMetrics(_ socket: ListeningSocket) throws(HTTPServerError) {
        var configuration = HTTPServerConfiguration()
        configuration.limits.connections = 16
        configuration.isSharedAddress = { _ in true }
        metricsServer = try HTTPServer(socket, configuration, log: log) { [unowned self] request, reply in
            perform(page.handleOnMetricsSocket(request), reply)
        }
    }

    /// Ends all connections.
    func stop() async {
        server?.stop()
        server = nil
        metricsServer?.stop()
        metricsServer = nil
        heartbeat.disarm()
        cleaning.disarm()
        scraping.disarm()
        polling.disarm()
        memory.disarm()
        keeping.disarm()
        client.onEvent = nil
        await storeHistory()
        await client.stop(within: .seconds(1))
    }

    // MARK: Requests

    private func handle(_ request: HTTPRequest, _ reply: HTTPReply) {
        perform(page.handle(request, at: .now, random: Secrets.random), reply)
        storeDevices()
    }

    /// Stores the sessions of devices if they have changed.
    private func storeDevices() {
        guard let state, let changed = page.sessions.takeChangedDevices() else { return }
        EventLoop.shared.begin { [log] in
            let isWritten = await HelperThread.shared.run(.state) { state.write(changed) }
            if !isWritten { log.warning("cannot store the sessions of devices", [(.path, state.folder)]) }
        }
    }

    /// Stores the rows of the charts now and in an hour.
    private func keepHistory() {
        keeping.arm(after: Self.historyInterval, accuracy: .seconds(60))
        EventLoop.shared.begin { [weak self] in await self?.storeHistory() }
    }

    private func storeHistory() async {
        guard let state, page.history.count > 0 else { return }
        let isWritten = await HelperThread.shared.run(.state) { [history = page.history] in state.write(history) }
        if !isWritten { log.warning("cannot store the rows of the charts", [(.path, state.folder)]) }
    }

    private func perform(_ action: PageServer.Action, _ reply: HTTPReply) {
        switch action {
        case .respond(let response): send(response, reply)
        case .checkPassword(let login, let password, let hash):
            enqueue(login, password, hash, reply) { [unowned self] in loggedIn(login, $0) }
        case .checkKey(let login, let key):
            check(login, .key, reply, { [keys] in keys.use(key) }) { [unowned self] in loggedIn(login, $0) }
        case .checkReader(let login, let credentials, let hash, let reading):
            enqueue(login, credentials.password, hash, reply) { [unowned self] in
                page.readerChecked(login, credentials, $0, reading)
            }
        case .metrics(let bridge, let format, let owner): scrape(bridge, format, of: owner, reply)
        case .stream(let subscription): begin(subscription, reply)
        case .streamHeaders: reply.sendStreamHeaders(streamHeaders)
        case .publish(let topic, let payload, let response): publish(topic, payload, response, reply)
        case .sessionsChanged(let response):
            for browser in browsers.values where !page.isValid(browser.subscription.secret, at: .now) {
                browser.stream.end()
            }
            send(response, reply)
        }
    }

    func send(_ response: HTTPResponse, _ reply: HTTPReply) {
        reply.send(response.secured(isFramed: isFramed))
    }

    /// Checks a password when those before it were checked.
    private func enqueue(
        _ login: PageServer.Login, _ password: String, _ hash: String, _ reply: HTTPReply,
        then next: @escaping @LoopActor (Bool) -> PageServer.Action
    ) {
        let waiting = WaitingLogin(login: login, password: password, hash: hash, reply: reply, next: next)
        if let lost = logins.add(waiting, of: login.address) {
            send(.error(503, "busy", "Too many logins at a time. Try again."), lost.reply)
        }
        checkNext()
    }

    private func checkNext() {
        guard let waiting = logins.begin() else { return }
        guard waiting.reply.isPending else {
            // The peer has disconnected.
            logins.ended()
            return checkNext()
        }
        check(waiting.login, .password, waiting.reply) {
            [password = waiting.password, hash = waiting.hash] in
            PasswordHash.matches(password, hash)
        } then: { [unowned self] isRight in
            logins.ended()
            defer { checkNext() }
            return waiting.next(isRight)
        }
    }

    /// Checks a password or a key on the helper thread, and performs what follows from the result.
    private func check(
        _ login: PageServer.Login, _ concern: HelperThread.Concern, _ reply: HTTPReply,
        _ body: @escaping @Sendable () -> Bool, then next: @escaping @LoopActor (Bool) -> PageServer.Action
    ) {
        EventLoop.shared.begin { [weak self] in
            let isRight = await HelperThread.shared.run(concern, body)
            guard let self else { return }
            let action = next(isRight)
            if isRight, login.isKnown {
                log.notice("login", [(.address, login.address), (.user, login.user)])
            } else if !action.isLocked {
                log.warning("login failed", [(.address, login.address), (.user, login.isKnown ? login.user : "")])
            }
            perform(action, reply)
        }
    }

    private func loggedIn(_ login: PageServer.Login, _ isRight: Bool) -> PageServer.Action {
        defer { storeDevices() }
        return .respond(page.loginChecked(login, isRight, random: Secrets.random, at: .now))
    }

    private func publish(_ topic: String, _ payload: [UInt8], _ response: HTTPResponse, _ reply: HTTPReply) {
        if let failure = publish(topic, payload) {
            send(.error(503, "broker_away", failure), reply)
        } else {
            send(response, reply)
        }
    }

    /// Publishes a message.
    ///
    /// - Returns: why it cannot be published; nil if it is.
    func publish(_ topic: String, _ payload: [UInt8]) -> String? {
        lastTicket += 1
        do throws(MQTTError) {
            try client.publish(MQTTMessage(topic: topic, payload: payload, qos: .atLeastOnce), ticket: lastTicket)
            return nil
        } catch {
            return "The broker does not accept the message: \(error.text)"
        }
    }

    // MARK: Browsers

    private func begin(_ subscription: PageServer.Subscription, _ reply: HTTPReply) {
        page.brokerHeard(at: client.lastHeard)
        var beginning = page.beginning(of: subscription, at: .now)
        let stream = HTTPStream { [weak self] in
            guard let self else { return nil }
            return beginning.takeNext(from: page.mirror)
        }
        let id = ObjectIdentifier(stream)
        stream.onEnd = { [weak self] in self?.ended(id) }
        browsers[id] = Browser(stream: stream, subscription: subscription)
        if let lost = shares.add(id, of: subscription.owner) { browsers[lost]?.stream.end() }
        subscription.touch.forEach(subscribeTouch)
        reply.send(stream, headers: streamHeaders)
        if !heartbeat.isArmed { heartbeat.arm(after: Self.heartbeatInterval, accuracy: .seconds(1)) }
    }

    private var streamHeaders: [(name: String, value: String)] {
        // nginx delivers the stream without a buffer.
        [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
            + SecurityHeaders.all(isFramed: isFramed)
    }

    private func ended(_ id: ObjectIdentifier) {
        guard let ended = browsers.removeValue(forKey: id)?.subscription else { return }
        shares.remove(id, of: ended.owner)
        for tag in ended.touch where !browsers.values.contains(where: { $0.subscription.touch.contains(tag) }) {
            unsubscribeTouch(tag)
        }
    }

    private func broadcast(_ text: [UInt8]) {
        for browser in browsers.values { browser.stream.send(text) }
    }

    private func broadcast(_ event: MirrorEvent) {
        guard !browsers.isEmpty, let rest = TopicPattern.rest(of: event.topic, below: page.mirror.base) else {
            return
        }
        for browser in browsers.values where browser.subscription.role.mayRead(rest) { browser.stream.send(event.text) }
    }

    /// Sends the time and the age of what the page shows, detects peers that have vanished, and ends the streams of expired sessions.
    /// Not armed without a browser.
    private func beat() {
        let now = PageServer.Moment.now
        page.brokerHeard(at: client.lastHeard)
        let event = page.brokerEvent(at: now)
        for browser in browsers.values {
            if page.isValid(browser.subscription.secret, at: now.instant) {
                browser.stream.send(event)
            } else {
                browser.stream.end()
            }
        }
        if !browsers.isEmpty { heartbeat.arm(after: Self.heartbeatInterval, accuracy: .seconds(1)) }
    }

    // MARK: Broker

    private func handle(_ event: MQTTEvent) {
        switch event {
        case .connected(let session):
            touchTags = []
            asked = [:]
            page.presence.connected(hasEcho: session.version != .v5)
            client.subscribe(
                to: (page.mirror.filters + page.presence.filters).compactMap { filter in
                    (try? MQTTTopicFilter(filter)).map { ($0, MQTTQoS.atMostOnce) }
                })
            broadcast(page.brokerChanged(isConnected: true, "connected", at: .now))
            for browser in browsers.values { browser.subscription.touch.forEach(subscribeTouch) }
            markStored()
            cleaning.arm(after: Self.staleTime)
        case .disconnected(let error, _):
            cleaning.disarm()
            polling.disarm()
            lastStored = nil
            page.brokerHeard(at: client.lastHeard)
            broadcast(page.brokerChanged(isConnected: false, error.text, at: .now))
        case .message(let message): received(message)
        case .acknowledged(let ticket, _) where ticket == lastStored: storedReceived()
        case .rejected(let ticket, _) where ticket == lastStored: storedReceived()
        case .acknowledged(let ticket, _): asked.removeValue(forKey: ticket).map { page.presence.taken($0) }
        case .subscriptionGranted: break
        case .rejected(let ticket, let error):
            if let bridge = asked.removeValue(forKey: ticket) { return page.presence.refused(bridge) }
            log.warning("the broker rejects a command", [(.error, error.description)])
        case .subscriptionRefused(let filter, _):
            log.warning("the broker refuses a subscription", [(.topic, filter.description)])
        }
    }

    private func received(_ message: MQTTMessage) {
        guard let rest = TopicPattern.rest(of: message.topic, below: page.mirror.base) else { return }
        if let tag = Self.touchTag(rest) { return receivedTouch(message, of: tag) }
        if let bridge = PageServer.metricsBridge(rest) {
            // Not for browsers: with one query a second it would replace the newest events.
            receivedMetrics(message.payload, of: bridge)
        } else if !page.presence.received(message, below: rest) {
            let event = page.received(
                rest, topic: message.topic, payload: message.payload, isStored: message.isRetained, at: .now)
            if let event { broadcast(event) }
        }
        let event = page.bridgeHeard(rest, isEmpty: message.payload.isEmpty, isStored: message.isRetained, at: .now)
        if let event { broadcast(event) }
    }

    /// Publishes a message without a reader. A broker answers in order: it sends the stored messages of the subscriptions before its
    /// answer, also if it rejects the message.
    private func markStored() {
        let topic = "\(page.mirror.base)/client/web-\(page.mirror.boot)/response"
        lastStored = publish(topic, []) == nil ? lastTicket : nil
    }

    private func storedReceived() {
        lastStored = nil
        if let ready = page.storedReceived() { broadcast(ready) }
        for request in page.presenceRequests(at: .now) {
            if publish(request.topic, request.payload) == nil { asked[lastTicket] = request.bridge }
        }
        polling.arm(at: page.presence.deadline)
    }

    private func endPolling() {
        for event in page.presenceEnded(at: .now) { broadcast(event) }
    }

    private func removeStale() {
        // A broker that has answered nothing until now has nothing stored.
        storedReceived()
        for event in page.removeStale(at: .now) { broadcast(event) }
    }

    // MARK: Touch

    /// The tag of a touch topic.
    private static func touchTag(_ rest: Substring) -> Substring? {
        let levels = rest.split(separator: "/", omittingEmptySubsequences: false)
        return levels.count == 3 && levels[0] == "tag" && levels[2] == "touch" ? levels[1] : nil
    }

    private func subscribeTouch(_ tag: String) {
        guard client.isConnected, touchTags.insert(tag).inserted,
            let filter = touchFilter(tag)
        else { return }
        client.subscribe(to: [(filter, .atMostOnce)])
    }

    /// The last page of the tag is closed.
    private func unsubscribeTouch(_ tag: String) {
        guard touchTags.remove(tag) != nil, let filter = touchFilter(tag) else { return }
        client.unsubscribe(from: filter)
    }

    private func touchFilter(_ tag: String) -> MQTTTopicFilter? {
        try? MQTTTopicFilter("\(page.mirror.base)/tag/\(tag)/touch")
    }

    private func receivedTouch(_ message: MQTTMessage, of tag: Substring) {
        let id = String(tag)
        let readers = browsers.values.filter { $0.subscription.touch.contains(id) }
        guard !readers.isEmpty, message.payload.count <= 1024 else { return }
        let mirrored = MirroredMessage(topic: message.topic, payload: message.payload, isRetained: false)
        let text = StreamText.event(named: "touch", mirrored.json)
        for reader in readers { reader.stream.send(text) }
    }
}

extension HelperThread.Concern {
    fileprivate static let password = HelperThread.Concern("password")
    /// Apart from passwords, so that wrong ones do not delay it.
    fileprivate static let key = HelperThread.Concern("key")
    fileprivate static let state = HelperThread.Concern("state")
}

extension PageServer.Moment {
    /// The current time of the monotonic clock and the wall clock.
    static var now: PageServer.Moment {
        PageServer.Moment(instant: .now, unixMilliseconds: WallClock.unixMilliseconds)
    }
}
