package import Bluetooth
package import EventLoop

/// A central without a radio: records requests and sends the events that the test chooses.
@LoopActor
package final class ScriptedCentral: Central {
    package var onEvent: ((CentralEvent) -> Void)?
    /// The receiver of a copy.
    package var onRequest: ((CentralRequest) -> Void)?

    package init() {}

    package func perform(_ request: CentralRequest) {
        onRequest?(request)
    }

    /// Something happens.
    package func report(_ event: CentralEvent) {
        onEvent?(event)
    }
}
