import Bluetooth
import ESPHome
import EventLoop
import Glibc
import Jacquard
import JacquardProtocol
import Logging
import Tags
import Text

/// Connects all tags that a proxy receives, and prints what happens, one event per line.
///
/// usage: proxy-client PORT [KEY]     ends with its standard input
@LoopActor
final class ProxyClientProgram {
    private let central: ESPHomeCentral
    private let manager: JacquardManager
    /// Resumed when the standard input has ended and all tags are disconnected.
    var end: CheckedContinuation<Void, Never>?
    private var input: DescriptorSource?
    /// The tags that were found.
    private var known: Set<BluetoothAddress> = []
    private var tasks: [Task<Void, Never>] = []

    init(port: UInt16, key: NoiseKey?) {
        let log = Logger("client", to: StreamSink(level: .warning))
        central = ESPHomeCentral(
            ESPHomeCentral.Configuration(host: "127.0.0.1", port: port, name: "loft", key: key), log: log)
        manager = JacquardManager(central: central, log: log)
        central.onStatus = { Self.say("status \(Self.text($0))") }
    }

    func start() throws {
        input = try DescriptorSource(STDIN_FILENO, for: [.readable]) { [weak self] _ in self?.read() }
        central.start()
        tasks.append(EventLoop.shared.begin { await self.connectTags() })
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 64)
        if Glibc.read(STDIN_FILENO, &buffer, buffer.count) > 0 { return }
        input?.cancel()
        EventLoop.shared.begin {
            await self.central.stop()
            self.end?.resume()
        }
    }

    private func connectTags() async {
        for await state in manager.centralState {
            Self.say("bluetooth \(state)")
            guard state == .poweredOn else { continue }
            do {
                if known.isEmpty {
                    try manager.startScanning()
                    tasks.append(EventLoop.shared.begin { await self.findTags() })
                }
                // The end of the radio was the end of each connection.
                for address in known { follow(try manager.connect(address)) }
            } catch {
                Self.say("failed \(error)")
            }
        }
    }

    private func findTags() async {
        for await tag in manager.advertisingTags where known.insert(tag.identifier).inserted {
            Self.say("found \(tag.pairingSerialNumber) \(tag.identifier)")
            do {
                follow(try manager.connect(tag))
            } catch {
                Self.say("failed \(error)")
            }
        }
    }

    private func follow(_ states: AsyncStream<TagConnectionState>) {
        tasks.append(EventLoop.shared.begin { await self.report(states) })
    }

    private func report(_ states: AsyncStream<TagConnectionState>) async {
        for await state in states {
            switch state {
            case .connected(let tag):
                Self.say("connected \(tag.tagComponent.version?.description ?? "-")")
                tasks.append(EventLoop.shared.begin { await self.follow(tag) })
            case .disconnected(let error): Self.say("disconnected \(error?.text ?? "-")")
            default: break
            }
        }
    }

    private func follow(_ tag: ConnectedTag) async {
        for await notification in tag.notifications {
            guard case .gesture(let gesture) = notification else { continue }
            Self.say("gesture \(gesture.rawValue)")
            let frame = LEDPattern.Frame(color: .init(red: 0, green: 255, blue: 0), lengthMilliseconds: 100)
            do {
                try await tag.enqueue(
                    .playLEDPattern(LEDPattern(kind: .solid, frames: [frame], durationMilliseconds: 100), on: .tag))
                Self.say("led done")
            } catch {
                Self.say("led failed \(error)")
            }
        }
    }

    private static func text(_ status: ESPHomeCentral.Status) -> String {
        switch status {
        case .stopped: "stopped"
        case .connecting: "connecting"
        case .ready(let info): "ready \(info.name) \(info.version)"
        case .waiting(let error, let pause): "waiting \(pause.components.seconds) \(error)"
        }
    }

    private nonisolated static func say(_ text: String) {
        print(text)
        fflush(nil)
    }
}

/// The program.
@main
enum ProxyClientMain {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2, let port = UInt16(arguments[1]) else { exit(2) }
        let key = arguments.count > 2 ? NoiseKey(base64: arguments[2]) : nil
        EventLoop.shared.begin {
            let program = ProxyClientProgram(port: port, key: key)
            try? program.start()
            await withCheckedContinuation { program.end = $0 }
            EventLoop.shared.stop()
        }
        EventLoop.shared.run()
    }
}
