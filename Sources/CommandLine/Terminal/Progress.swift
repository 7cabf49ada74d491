public import EventLoop
import Text
import Time

/// Prints what a command waits for on standard error, but nothing in the first second.
@LoopActor
public final class Progress {
    private let printer: Printer
    private var last: String?
    private var isDelayOver = false
    private lazy var timer = LoopTimer { [unowned self] in
        isDelayOver = true
        if let last { printer.write(.standardError, last) }
    }

    /// Creates a progress that starts with the first step.
    public init(_ printer: Printer) {
        self.printer = printer
    }

    /// Sets the current step.
    public func say(_ text: String) {
        let line = DisplayText.escaped(text) + " ..."
        guard line != last else { return }
        last = line
        if isDelayOver, let last {
            printer.write(.standardError, last)
        } else if !timer.isArmed {
            timer.arm(after: .seconds(1))
        }
    }

    /// Ends the wait; no further line is printed.
    public func end() {
        timer.disarm()
    }
}

/// Prints an instruction at once, and then every ten seconds the remaining time, on standard error.
@LoopActor
public final class Countdown {
    private let printer: Printer
    private let total: Duration
    private var text = ""
    private var deadline = Instant.now
    /// Whether ``begin(_:everyTenSeconds:)`` was called.
    public private(set) var hasBegun = false
    private lazy var timer = LoopTimer { [unowned self] in tick() }

    /// Creates a countdown that has not begun.
    public init(printer: Printer, total: Duration) {
        self.printer = printer
        self.total = total
    }

    /// Begins.
    ///
    /// - Parameters:
    ///   - first: the first line; the total time is appended.
    ///   - text: the later lines; the remaining time is appended.
    public func begin(_ first: String, everyTenSeconds text: String) {
        hasBegun = true
        self.text = text
        deadline = .now + total
        printer.write(.standardError, "\(DisplayText.escaped(first)) for \(total.components.seconds) s ...")
        arm()
    }

    /// Ends; no further line is printed.
    public func end() {
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
