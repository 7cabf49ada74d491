import EventLoop
import TestSupport
import Testing

@testable import MQTT

@Suite("Events from the library's callbacks")
struct MosquittoInstanceTests {
    @Test("are delivered once and in order, including those that arrive during the delivery")
    func signals() async throws {
        try await onLoop {
            let configuration = MQTTConfiguration(host: "127.0.0.1", clientIdentifier: "test")
            let instance = try MosquittoInstance(
                configuration, .init(version: .v5, isCleanStart: true, isDiscardOnly: false))
            var seen: [CInt] = []
            let success = MQTTReasonCode(rawValue: 0)
            for number in [CInt(1), 2] { instance.note(.published(number, success)) }
            instance.takeSignals { signal in
                guard case .published(let number, _) = signal else { return }
                seen.append(number)
                guard number < 3 else { return }
                // The response to an acknowledgement triggers another one, which is read immediately.
                instance.note(.published(number + 10, success))
                instance.takeSignals { inner in
                    if case .published(let number, _) = inner { seen.append(number) }
                }
            }
            #expect(seen == [1, 11, 2, 12])
            instance.note(.published(20, success))
            instance.takeSignals { if case .published(let number, _) = $0 { seen.append(number) } }
            #expect(seen.last == 20)
            #expect(seen.count == 5)
        }
    }
}
