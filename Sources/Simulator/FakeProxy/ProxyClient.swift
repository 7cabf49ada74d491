import ESPHome
import EventLoop
import Glibc

/// A client's connection to the fake proxy.
@LoopActor
final class ProxyClient {
    private let descriptor: CInt
    private unowned let server: ProxyServer
    private var source: DescriptorSource?
    private var channel: FrameChannel
    private var unsent: [UInt8] = []
    private var isClosed = false

    init(_ descriptor: CInt, of server: ProxyServer) throws(SystemError) {
        self.descriptor = descriptor
        self.server = server
        var channel: FrameChannel? = .plain()
        if let key = server.options.key {
            var generator = SystemRandomNumberGenerator()
            channel = .server(
                key: key, secret: (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) },
                name: server.options.name, address: "AABBCCDDEE00")
        }
        guard let channel else { throw SystemError(number: EINVAL, action: "make a key") }
        self.channel = channel
        var yes: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<CInt>.size))
        source = try DescriptorSource(descriptor, for: [.readable]) { [weak self] in self?.isReady($0) }
    }

    func send(_ message: ProxyMessage) {
        guard !isClosed, !server.isSilent else { return }
        try? channel.send(message.frame)
        flush()
    }

    /// Continues after a time of silence. What was not sent then is lost, as on a proxy whose buffers are full.
    func resume() {
        source?.events = [.readable]
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        source?.cancel()
        source = nil
        Glibc.close(descriptor)
        server.ended(self)
    }

    private func isReady(_ events: DescriptorSource.Events) {
        // A frozen proxy does not read.
        guard !server.isSilent else {
            source?.events = []
            return
        }
        if events.contains(.writable) { flush() }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            return close()
        }
        do throws(ProxyError) {
            for frame in try channel.receive(buffer.prefix(count)) {
                if let message = try ProxyMessage.decode(frame) { handle(message) }
                if isClosed { return }
            }
        } catch {
            refuse(error)
            flush()
            return close()
        }
        flush()
    }

    /// Sends the text that ESPHome sends to a client that does not know whether it encrypts.
    private func refuse(_ error: ProxyError) {
        let text = Array("Bad indicator byte".utf8)
        if error == .notEncrypted { unsent += [1, 0, UInt8(text.count + 1), 1] + text }
        if error == .encryptionRequired { unsent += [0] + text }
    }

    private func flush() {
        guard !isClosed else { return }
        unsent += channel.takeOutput()
        guard !unsent.isEmpty else { return }
        let count = Glibc.send(descriptor, unsent, unsent.count, CInt(MSG_NOSIGNAL))
        if count > 0 { unsent.removeFirst(count) }
        // A client that reads nothing is dropped.
        guard unsent.count < 1 << 20 else { return close() }
        source?.events = unsent.isEmpty ? [.readable] : [.readable, .writable]
    }

    private func handle(_ message: ProxyMessage) {
        server.onMessage?(message)
        switch message {
        case .hello:
            send(
                .helloResponse(
                    major: 1, minor: 14, server: "\(server.options.name) (esphome v\(version))",
                    name: server.options.name))
        case .deviceInfo: send(.deviceInfoResponse(info))
        case .ping: send(.pingResponse)
        case .disconnect:
            send(.disconnectResponse)
            close()
        case .subscribeAdvertisements: server.subscribe(self)
        case .unsubscribeAdvertisements: server.unsubscribe(self)
        case .subscribeConnectionsFree: send(server.connectionsFree)
        case .device(let number, let request, let addressType):
            server.handle(number, request, addressType: addressType)
        case .setParameters(let number, _, _, _, _):
            let isUp = server.link(number)?.isUp ?? false
            server.send(.parametersSet(number, error: isUp ? 0 : ProxyDeviceLink.notConnected))
        case .getServices(let number): access(number, 0) { $0.sendServices() }
        case .write(let number, let handle, let withResponse, let value):
            access(number, handle) { $0.write(value, to: handle, withResponse: withResponse) }
        case .writeDescriptor(let number, let handle, let value):
            access(number, handle) { $0.writeDescriptor(value, to: handle) }
        case .notify(let number, let handle, let isOn): access(number, handle) { $0.setNotify(handle, isOn) }
        default: break
        }
    }

    private func access(_ number: UInt64, _ handle: UInt32, _ body: (ProxyDeviceLink) -> Void) {
        guard let link = server.link(number), link.isUp else {
            return server.send(.failed(number, handle: handle, error: ProxyDeviceLink.notConnected))
        }
        body(link)
    }

    private var version: String { server.options.servesNewest ? "2026.7.0" : "2026.6.5" }

    private var info: ProxyInfo {
        var info = ProxyInfo()
        info.name = server.options.name
        info.version = version
        info.features = .all
        info.bluetoothAddress = "AA:BB:CC:DD:EE:01"
        return info
    }
}
