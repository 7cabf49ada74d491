import JacquardProtocol
import Testing
import Time

@testable import Bridge

extension TouchData {
    /// A sample of the twelve lines.
    static func sample(_ lines: [UInt8]) -> TouchData {
        guard let sample = TouchData(sequence: 0, scaled: [0] + lines) else { preconditionFailure("twelve lines") }
        return sample
    }
}

@Suite("The slides of a finger")
struct SlideMachineTests {
    private static let start = Instant(sinceBoot: .seconds(100))

    /// A machine that gets a sample every 40 ms; its events are written as `milliseconds phase position delta`.
    private final class Bench {
        private var machine = SlideMachine()
        private var now = SlideMachineTests.start
        private(set) var lines: [String] = []

        /// A finger at a place from 0 to 11, or the given lines.
        func sample(_ place: Double, height: Double = 110) {
            sample((0..<12).map { UInt8(max(0, height - 45 * abs(Double($0) - place))) })
        }

        func sample(_ lines: [UInt8]) {
            note(machine.handle(.sample(lines), at: now))
            wait(40)
        }

        func rest(_ count: Int = 1) {
            for _ in 0..<count { sample([UInt8](repeating: 3, count: 12)) }
        }

        func wait(_ milliseconds: Int64) {
            let end = now + .milliseconds(milliseconds)
            while let deadline = machine.deadline, deadline <= end {
                now = max(now, deadline)
                note(machine.deadlineReached(at: now))
            }
            now = end
        }

        func end() { note(machine.end()) }

        private func note(_ events: [SlideMachine.Event]) {
            for event in events {
                let at = (now - SlideMachineTests.start).milliseconds
                lines.append("\(at) \(event.phase.rawValue) \(event.position) \(event.delta)")
            }
        }
    }

    @Test("begin with the third sample of a finger, move at most ten times a second, and end 120 ms after it")
    func stroke() {
        let bench = Bench()
        for place in stride(from: 2.0, through: 7.0, by: 0.5) { bench.sample(place) }
        bench.rest(5)
        #expect(
            bench.lines == [
                "80 begin 27 0", "200 move 41 14", "320 move 55 14", "560 end 64 9",
            ])
    }

    @Test("hold after 600 ms at one place, once until the finger moves")
    func hold() {
        let bench = Bench()
        for _ in 0..<60 { bench.sample(4) }
        #expect(bench.lines == ["80 begin 36 0", "680 hold 36 0"])
        for _ in 0..<20 { bench.sample(6) }
        #expect(bench.lines.suffix(2) == ["2400 move 55 19", "3000 hold 55 0"])
    }

    @Test("end without further samples, at once if the link is lost")
    func silence() {
        let bench = Bench()
        for _ in 0..<4 { bench.sample(4) }
        bench.wait(2_000)
        #expect(bench.lines == ["80 begin 36 0", "620 end 36 0"])
        for _ in 0..<4 { bench.sample(4) }
        bench.end()
        bench.end()
        #expect(bench.lines.count == 4 && bench.lines[3].contains("end 36 0"))
    }

    @Test("go on through a lost sample and a short gap")
    func gap() {
        let bench = Bench()
        for place in [2.0, 2, 2, 3, 3] { bench.sample(place) }
        bench.rest(2)
        for place in [4.0, 4, 5, 5] { bench.sample(place) }
        bench.wait(200)
        bench.sample(5)
        bench.rest(5)
        #expect(bench.lines.filter { $0.contains("begin") }.count == 1)
        #expect(bench.lines.filter { $0.contains("end") }.count == 1)
    }

    @Test("don't begin with noise, with a wide fold, with a hand, or with cloth that is pressed slowly")
    func cloth() {
        let bench = Bench()
        bench.rest(100)
        bench.sample([12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12])
        for _ in 0..<20 { bench.sample([10, 20, 30, 40, 50, 60, 60, 50, 40, 30, 20, 10]) }
        bench.rest(5)
        for _ in 0..<20 { bench.sample([90, 20, 0, 90, 20, 0, 90, 20, 0, 0, 90, 20]) }
        bench.rest(5)
        for height in stride(from: 14.0, through: 120, by: 5) { bench.sample(5, height: height) }
        bench.rest(5)
        #expect(bench.lines.isEmpty)
    }

    @Test("keep the place of a finger that is being lifted")
    func lift() {
        let bench = Bench()
        for _ in 0..<5 { bench.sample(6) }
        for height in [50.0, 40, 20] { bench.sample(7, height: height) }
        bench.rest(5)
        #expect(bench.lines.last?.hasSuffix("end 55 0") == true, "\(bench.lines)")
    }
}
