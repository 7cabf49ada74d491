import EventLoop
import Glibc

/// Ctrl-C, or whatever stands for it in a test.
@LoopActor
final class Interruption {
    /// Is called when the user wants an end.
    var onFire: (@LoopActor () -> Void)?
    private var sources: [SignalSource] = []

    /// One that nothing fires yet.
    nonisolated init() {}

    /// Takes SIGINT and SIGTERM from now on.
    ///
    /// - Throws: when the signals cannot be taken; they end the process then.
    func listen() throws(SystemError) {
        for signal in [SIGINT, SIGTERM] {
            sources.append(try SignalSource(signal) { [unowned self] in fire() })
        }
    }

    /// The user wants an end.
    func fire() {
        onFire?()
    }
}
