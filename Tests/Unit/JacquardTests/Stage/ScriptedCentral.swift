import Bluetooth
import EventLoop

/// A central without a radio: records requests and sends the events that the test chooses.
@LoopActor
final class ScriptedCentral: Central {
    var onEvent: ((CentralEvent) -> Void)?
    /// The receiver of a copy.
    var onRequest: ((CentralRequest) -> Void)?

    func perform(_ request: CentralRequest) {
        onRequest?(request)
    }

    /// Something happens.
    func report(_ event: CentralEvent) {
        onEvent?(event)
    }
}
