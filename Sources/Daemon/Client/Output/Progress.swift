import EventLoop
import Text
import Time

/// Prints what happens while a user waits, one line each on standard error; nothing about what takes less than a second.
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

    /// Ends the wait; no further line is printed.
    func end() {
        timer.disarm()
    }
}

/// Says at once what the user has to do, and then every ten seconds how much time is left, on standard error.
@LoopActor
final class Countdown {
    private let printer: Printer
    private let total: Duration
    private var text = ""
    private var deadline = Instant.now
    private(set) var hasBegun = false
    private lazy var timer = LoopTimer { [unowned self] in tick() }

    /// One that has not begun.
    init(printer: Printer, total: Duration) {
        self.printer = printer
        self.total = total
    }

    /// Begins.
    ///
    /// - Parameters:
    ///   - first: the sentence at the beginning, completed by the time.
    ///   - text: the later ones.
    func begin(_ first: String, everyTenSeconds text: String) {
        hasBegun = true
        self.text = text
        deadline = .now + total
        printer.write(.standardError, "\(DisplayText.escaped(first)) for \(total.components.seconds) s ...")
        arm()
    }

    /// Ends; no further line is printed.
    func end() {
        timer.disarm()
    }

    private func arm() {
        if deadline - .now > .seconds(10) { timer.arm(after: .seconds(10)) }
    }

    private func tick() {
        // Half a second of tolerance: the timer fires a little late.
        let left = (deadline - .now + .milliseconds(500)).components.seconds
        printer.write(.standardError, "\(DisplayText.escaped(text)): \(left) s left ...")
        arm()
    }
}
