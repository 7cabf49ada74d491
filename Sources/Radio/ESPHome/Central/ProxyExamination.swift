public import EventLoop
import Time

/// Connects to a proxy for its properties only. The client that uses the proxy keeps it.
@LoopActor
public final class ProxyExamination {
    private let configuration: ESPHomeCentral.Configuration
    private var session: ProxySession?
    private var socket: ProxySocket?
    private var result: Result<ProxyInfo, ProxyError>?
    private var waiting: CheckedContinuation<Void, Never>?
    private lazy var limitTimer = LoopTimer { [unowned self] in end(.failure(.silent)) }
    private lazy var timer = LoopTimer { [unowned self] in timeReached() }

    private init(_ configuration: ESPHomeCentral.Configuration) {
        self.configuration = configuration
    }

    /// Returns the properties of a proxy, or why they cannot be read.
    ///
    /// - Parameters:
    ///   - configuration: the proxy.
    ///   - limit: the time limit.
    /// - Returns: the properties, or the error.
    public static func result(
        of configuration: ESPHomeCentral.Configuration, within limit: Duration
    ) async -> Result<ProxyInfo, ProxyError> {
        let examination = ProxyExamination(configuration)
        let socket = ProxySocket(host: configuration.host, port: configuration.port) { [weak examination] in
            examination?.handle($0)
        }
        examination.socket = socket
        examination.limitTimer.arm(after: limit)
        socket.open()
        await withCheckedContinuation { examination.waiting = $0 }
        examination.timer.disarm()
        examination.limitTimer.disarm()
        socket.close()
        return examination.result ?? .failure(.silent)
    }

    /// The first result counts.
    private func end(_ result: Result<ProxyInfo, ProxyError>) {
        self.result = self.result ?? result
        waiting?.resume()
        waiting = nil
    }

    private func handle(_ event: ProxySocket.Event) {
        switch event {
        case .connected:
            guard let channel = configuration.channel else {
                return end(.failure(.network("no random numbers")))
            }
            session = ProxySession(channel, subscribes: false, at: .now)
            handle([])
        case .received(let bytes): handle(session?.receive(bytes, at: .now) ?? [])
        case .ended(let error): end(.failure(error))
        }
    }

    private func timeReached() {
        handle(session?.timeReached(at: .now) ?? [])
    }

    private func handle(_ events: [ProxySession.Event]) {
        if let output = session?.takeOutput(), !output.isEmpty { socket?.send(output) }
        for event in events {
            switch event {
            case .opened(let info): end(.success(info))
            case .ended(let error): end(.failure(error))
            case .received: break
            }
        }
        timer.arm(at: session?.deadline)
    }
}

extension ESPHomeCentral.Configuration {
    /// The framing of a new connection; nil if the system has no random numbers.
    var channel: FrameChannel? {
        guard let key else { return .plain() }
        var generator = SystemRandomNumberGenerator()
        return .client(key: key, secret: (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
