import EventLoop

/// Tells a waiting user what happens, one line each on standard error. Says nothing about what takes less than a second.
@LoopActor
final class Progress {
    private let printer: Printer
    private var last: String?
    private var isPatienceOver = false
    private lazy var timer = LoopTimer { [unowned self] in
        isPatienceOver = true
        if let last { printer.write(.standardError, last) }
    }

    /// A progress that begins with the first thing that is said.
    init(_ printer: Printer) {
        self.printer = printer
    }

    /// Says what happens now.
    func say(_ text: String) {
        last = DisplayText.escaped(text) + " ..."
        if isPatienceOver, let last {
            printer.write(.standardError, last)
        } else if !timer.isArmed {
            timer.arm(after: .seconds(1))
        }
    }

    /// There is nothing to wait for any more.
    func end() {
        timer.disarm()
    }
}
