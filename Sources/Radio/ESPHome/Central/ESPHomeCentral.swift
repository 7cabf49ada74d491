public import Bluetooth
public import EventLoop
public import Logging
import Time

/// A central that uses the Bluetooth proxy of an ESP32 with ESPHome, over TCP.
///
/// It keeps a connection to the proxy, and makes it again when it ends. All rules are in `ProxySession` and
/// `ProxyRadio`, which are values; this class has the socket and the timers.
@LoopActor
public final class ESPHomeCentral: Central {
    /// How to reach a proxy.
    public struct Configuration: Sendable {
        /// A name or an address.
        public var host: String
        /// The port.
        public var port: UInt16
        /// The name of the radio in events and logs.
        public var name: String
        /// The key; nil for a proxy without encryption.
        public var key: NoiseKey?

        /// Creates a configuration.
        public init(host: String, port: UInt16 = 6053, name: String, key: NoiseKey?) {
            self.host = host
            self.port = port
            self.name = name
            self.key = key
        }
    }

    /// The state of the connection.
    public enum Status: Hashable, Sendable {
        /// Not started, or stopped.
        case stopped
        /// The connection is being made.
        case connecting
        /// The proxy serves this client.
        case ready(ProxyInfo)
        /// The connection failed or has ended. It is made again after the pause.
        case waiting(ProxyError, Duration)
    }

    /// Pauses between attempts.
    enum Pause {
        static let first = Duration.seconds(1)
        static let longest = Duration.seconds(60)
        /// Another client holds the proxy. An attempt does not disturb that client, because the proxy refuses it. At
        /// first that client may be an earlier connection of this one, which a proxy keeps for up to 150 s.
        static let refusedAtFirst = Duration.seconds(60)
        /// The same after three attempts.
        static let refused = Duration.seconds(300)
        /// Another client has taken the proxy, which serves the newest client. The next attempt takes it back.
        static let takenOver = Duration.seconds(3600)
        /// How long a session must have lasted so that the pauses start again.
        static let lasting = Duration.seconds(10)
    }

    /// Called with each request before it is performed; nil unless the traffic is recorded.
    public var onRequest: ((CentralRequest) -> Void)?
    /// The event handler.
    public var onEvent: ((CentralEvent) -> Void)?
    /// Called with each change of ``status``.
    public var onStatus: ((Status) -> Void)?
    /// The state of the connection.
    public private(set) var status = Status.stopped {
        didSet { if status != oldValue { onStatus?(status) } }
    }

    private let configuration: Configuration
    private let log: Logger
    private var radio: ProxyRadio
    private var session: ProxySession?
    private var socket: ProxySocket?
    private var openedAt: Instant?
    /// The number of refused subscriptions since the last session.
    private var refusals = 0
    private var backoff = Backoff(first: Pause.first, longest: Pause.longest)
    private var isStarted = false
    private var isStopped = false
    /// Events that are reported at the end of the turn.
    private var laterEvents: [CentralEvent] = []
    private lazy var laterReport = EndOfTurnSource { [unowned self] in reportLaterEvents() }
    private lazy var timer = LoopTimer { [unowned self] in timeReached() }
    private lazy var retryTimer = LoopTimer { [unowned self] in connect() }
    /// Called when no link is left.
    private var onLastLink: (() -> Void)?

    /// Creates a central. It does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - configuration: the proxy.
    ///   - bonds: the devices that the proxy has a bond with, as last reported by `bonds`: the proxy has no list of them.
    ///   - bondsByController: the same of all proxies, by the addresses of their adapters. It takes precedence.
    ///   - log: the logger.
    public init(
        _ configuration: Configuration, bonds: Set<BluetoothAddress> = [],
        bondsByController: [BluetoothAddress: Set<BluetoothAddress>] = [:], log: Logger
    ) {
        self.configuration = configuration
        self.log = log
        radio = ProxyRadio(name: configuration.name, bonds: bonds, bondsByController: bondsByController)
    }

    /// The name of the radio, which is its adapter.
    public var adapterID: String? { configuration.name }
    /// Whether the proxy can be used. It changes before the ends of links that it causes are reported.
    public var state: CentralState { radio.state }
    /// The number of free links; nil if it is unknown.
    public var freeLinks: Int? { radio.freeLinks.map { Int($0) } }

    /// Starts to connect to the proxy. Call it once.
    public func start() {
        guard !isStarted, !isStopped else { return }
        isStarted = true
        connect()
    }

    /// Disconnects all devices and waits for it, at most for the given time. Then closes the connection.
    public func stop(within limit: Duration = .seconds(3)) async {
        guard !isStopped else { return }
        isStopped = true
        onEvent = nil
        laterEvents = []
        retryTimer.disarm()
        if session?.isOpen == true, !radio.links.isEmpty {
            for address in radio.links.keys { radio.perform(.disconnect(address), at: .now) }
            apply(later: false)
            await lastLink(within: limit)
        }
        session?.close()
        sendOutput()
        endConnection()
        status = .stopped
    }

    /// Performs a request, or starts it.
    public func perform(_ request: CentralRequest) {
        guard !isStopped else { return }
        onRequest?(request)
        radio.perform(request, at: .now)
        apply(later: true)
    }

    // MARK: The connection

    private func connect() {
        guard !isStopped else { return }
        status = .connecting
        let socket = ProxySocket(host: configuration.host, port: configuration.port) { [weak self] in self?.handle($0) }
        self.socket = socket
        socket.open()
    }

    private func handle(_ event: ProxySocket.Event) {
        switch event {
        case .connected:
            guard let channel = configuration.channel else { return failed(.network("no random numbers")) }
            session = ProxySession(channel, at: .now)
            sendOutput()
            armTimer()
        case .received(let bytes): handle(session?.receive(bytes, at: .now) ?? [])
        case .ended(let error): failed(error)
        }
    }

    private func timeReached() {
        handle(session?.timeReached(at: .now) ?? [])
        if radio.deadline.map({ $0 <= .now }) ?? false {
            radio.timeReached(at: .now)
            apply(later: false)
        }
        armTimer()
    }

    /// Handles the session's events one by one: the handler of one may make requests that the next depends on.
    private func handle(_ events: [ProxySession.Event]) {
        let current = socket
        for event in events where socket === current {
            switch event {
            case .opened(let info): opened(info)
            case .received(let message):
                radio.receive(message, at: .now)
                // Nothing follows from most advertisements.
                if case .advertisements = message, !radio.hasEffects { continue }
                apply(later: false)
            case .ended(let error):
                sendOutput()
                failed(error)
            }
        }
        sendOutput()
        armTimer()
    }

    private func opened(_ info: ProxyInfo) {
        openedAt = .now
        refusals = 0
        log.info("connected to the proxy", [(.endpoint, endpoint), (.version, info.version)])
        status = .ready(info)
        radio.opened(info, at: .now)
        apply(later: false)
    }

    private func failed(_ error: ProxyError) {
        if let openedAt, .now - openedAt >= Pause.lasting { backoff.reset() }
        let isFresh = backoff.isFresh
        var pause = backoff.next()
        switch error {
        case .taken(wasOurs: false):
            refusals += 1
            pause = refusals > 3 ? Pause.refused : Pause.refusedAtFirst
        case .taken(wasOurs: true): pause = Pause.takenOver
        case .wrongKey, .encryptionRequired, .notEncrypted, .unsuitable, .noProxy, .connectsNothing:
            pause = Pause.longest
        default: break
        }
        if isFresh || openedAt != nil {
            log.warning(
                "the connection to the proxy failed",
                [(.endpoint, endpoint), (.error, error.description), (.retryIn, "\(pause.milliseconds)")])
        }
        endConnection()
        guard !isStopped else { return }
        status = .waiting(error, pause)
        let reason = BluetoothError(
            .connectionFailed, name: "esphome.lost", text: "the radio is lost: \(error)", end: .local)
        radio.closed(Self.state(after: error), reason, Self.fault(error))
        apply(later: false)
        retryTimer.arm(after: pause)
    }

    private static func state(after error: ProxyError) -> CentralState {
        switch error {
        case .wrongKey, .encryptionRequired, .notEncrypted: .unauthorized
        case .unsuitable, .noProxy, .connectsNothing: .unsupported
        default: .resetting
        }
    }

    private static func fault(_ error: ProxyError) -> AdapterFault {
        if case .taken = error { .taken(error.description) } else { .other(error.description) }
    }

    private func endConnection() {
        socket?.close()
        (socket, session, openedAt) = (nil, nil, nil)
        timer.disarm()
    }

    private var endpoint: String { "\(configuration.host):\(configuration.port)" }

    // MARK: Effects

    /// Sends the radio's messages, and reports its events.
    ///
    /// - Parameter later: whether in a later turn, as `Central` requires it of the results of requests.
    private func apply(later: Bool) {
        let effects = radio.takeEffects()
        if let isSubscribed = effects.isSubscribed { session?.setSubscribed(isSubscribed, at: .now) }
        for message in effects.messages { session?.send(message) }
        sendOutput()
        if later || !laterEvents.isEmpty {
            laterEvents += effects.events
            if !laterEvents.isEmpty { laterReport.request() }
        } else {
            for event in effects.events { onEvent?(event) }
        }
        armTimer()
        if radio.links.isEmpty { onLastLink?() }
    }

    private func reportLaterEvents() {
        var events: [CentralEvent] = []
        swap(&events, &laterEvents)
        for event in events { onEvent?(event) }
    }

    private func sendOutput() {
        guard let output = session?.takeOutput(), !output.isEmpty else { return }
        socket?.send(output)
    }

    private func armTimer() {
        var deadline = session?.deadline
        deadline.lower(to: radio.deadline)
        timer.arm(at: deadline)
    }

    private func lastLink(within limit: Duration) async {
        guard !radio.links.isEmpty else { return }
        await withCheckedContinuation { continuation in
            var waiting: CheckedContinuation<Void, Never>? = continuation
            let finish: @LoopActor () -> Void = { [weak self] in
                self?.onLastLink = nil
                waiting?.resume()
                waiting = nil
            }
            let limitTimer = LoopTimer(handler: finish)
            limitTimer.arm(after: limit)
            onLastLink = {
                limitTimer.disarm()
                finish()
            }
        }
    }
}
