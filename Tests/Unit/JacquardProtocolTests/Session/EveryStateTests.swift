import JacquardProtocol
import Testing
import Time

/// Beyond the transcripts: what holds whatever happens. The rules are those of `SessionAuditor`.
@Suite("Every state and every event")
struct EveryStateTests {
    @Test("keep the invariants, and a working tag is connected in the end", arguments: SessionPhase.allCases)
    func table(phase: SessionPhase) {
        for input in SessionInput.samples {
            var world = SessionWorld(SessionFixture(in: phase))
            world.happen(input)
            #expect(world.fixture.complaints == [], "\(input)")
            connect(&world)
            #expect(world.fixture.session.isConnected, "\(input)")
            #expect(world.fixture.complaints == [], "\(input)")
        }
    }

    @Test("keep the invariants twice in a row", arguments: SessionPhase.allCases)
    func pairs(phase: SessionPhase) {
        var complaints: [String] = []
        for first in SessionInput.samples {
            var once = SessionFixture(in: phase)
            _ = once.on(first)
            for second in SessionInput.samples where second != first || !second.isCommand {
                var twice = once
                _ = twice.on(second.withToken(100))
                complaints += twice.complaints
            }
        }
        #expect(complaints == [])
    }

    @Test("keep the invariants in any order, and a working tag is connected in the end", arguments: 0..<20)
    func chance(seed: UInt64) {
        var numbers = SplitMix(seed: seed)
        for _ in 0..<500 {
            var world = SessionWorld(SessionFixture())
            live(&world, &numbers)
            connect(&world)
            #expect(world.fixture.session.isConnected)
            world.happen(.poweredOff)
            guard world.fixture.complaints.isEmpty else {
                Issue.record("\(world.fixture.complaints)")
                return
            }
        }
    }

    /// A life of chance, in which most of what is owed comes and time passes.
    private func live(_ world: inout SessionWorld, _ numbers: inout SplitMix) {
        world.happen(.connect(.always))
        func happen(_ inputs: [SessionInput]) {
            if let input = inputs.randomElement(using: &numbers) { world.happen(input) }
        }
        for token in 1...UInt64.random(in: 1...60, using: &numbers) {
            switch Int.random(in: 0..<100, using: &numbers) {
            case ..<55: world.goOn()
            case ..<60: world.swallow()
            case ..<65: world.fixture.pass(.milliseconds(Int.random(in: 0...20_000, using: &numbers)))
            case ..<70: world.happen(.connect(.always))
            case ..<75: happen(SessionInput.gear)
            case ..<90: happen(SessionInput.commands.map { .command($0, token: token) })
            default: happen(SessionInput.samples.map { $0.withToken(token) })
            }
        }
    }

    /// From here on nothing goes wrong.
    private func connect(_ world: inout SessionWorld) {
        world.happen(.connect(.always))
        var steps = 0
        while !world.fixture.session.isConnected, steps < 500 {
            // A final error of what went wrong before may still be on its way.
            if world.fixture.session.deadline == nil { world.happen(.connect(.always)) }
            world.goOn()
            steps += 1
        }
    }
}

extension SessionInput {
    fileprivate var isCommand: Bool {
        if case .command = self { true } else { false }
    }

    fileprivate func withToken(_ token: UInt64) -> SessionInput {
        guard case .command(let command, _) = self else { return self }
        return .command(command, token: token)
    }
}
