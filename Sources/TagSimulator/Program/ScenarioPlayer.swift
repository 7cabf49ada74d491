import EventLoop

/// Plays a scenario: executes its lines and pauses.
@LoopActor
final class ScenarioPlayer {
    private var rest: ArraySlice<Scenario.Step>
    private let type: (String) -> Void
    private lazy var timer = LoopTimer { [unowned self] in play() }

    init(_ scenario: Scenario, type: @escaping (String) -> Void) {
        rest = scenario.steps[...]
        self.type = type
    }

    /// Begins, or goes on.
    func play() {
        while let step = rest.popFirst() {
            switch step {
            case .command(let line): type(line)
            case .wait(let time): return timer.arm(after: time)
            }
        }
    }
}
