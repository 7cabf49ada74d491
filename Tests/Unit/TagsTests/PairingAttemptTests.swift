import Bluetooth
import JacquardProtocol
import TagStage
import Testing

@testable import Tags

@Suite("PairingAttempt")
struct PairingAttemptTests {
    private enum Event {
        case connection(TagConnection.State, String? = nil)
        case bonded(isConnected: Bool)
        case pauseEnded
    }

    private static let link = Event.connection(.connecting(step: 1))
    private static func end(_ stackName: String = "x") -> Event { .connection(.preparingToConnect, stackName) }

    /// The steps that follow from each event.
    private func steps(_ attempt: PairingAttempt, _ events: [Event]) -> [String] {
        var attempt = attempt
        return events.map { event in
            switch event {
            case .connection(let state, let stackName):
                let error = stackName.map { TagConnectionError(.bluetoothConnectionError, "ended", stackName: $0) }
                return word(
                    attempt.changed(TagConnection(state: state, attempt: 1, error: error), at: .number(1)))
            case .bonded(let isConnected):
                return attempt.bonded(isConnected: isConnected).map(word).joined(separator: ", ")
            case .pauseEnded:
                attempt.pauseEnded()
                return "-"
            }
        }
    }

    private func word(_ step: PairingAttempt.Step) -> String {
        switch step {
        case .nothing: "-"
        case .report(.searching): "searching"
        case .report(.found): "found"
        case .report(.bonded): "bonded"
        case .endPause: "at once"
        case .end(let error): error.map { "failed: \($0.text)" } ?? "paired"
        }
    }

    @Test("a new tag: one link may be lost, and the bond or the connection that comes last completes it")
    func pairing() {
        let stages: [Event] = [.connection(.initializing(step: 5)), .connection(.configuring(step: 10))]
        #expect(
            steps(PairingAttempt(), [Self.link, Self.end(), Self.link] + stages + [.connection(.connected)])
                == ["found", "-", "-", "-", "-", "-"])
        #expect(
            steps(PairingAttempt(), [Self.link, .bonded(isConnected: false), .connection(.connected)])
                == ["found", "bonded", "paired"])
        #expect(
            steps(
                PairingAttempt(),
                [Self.link, .connection(.connected), .bonded(isConnected: true), .bonded(isConnected: true)])
                == ["found", "-", "bonded, paired", ""])
        #expect(steps(PairingAttempt(), [.connection(.disconnected)]) == ["failed: the pairing was cancelled"])
        var unfound = PairingAttempt()
        #expect(word(unfound.changed(TagConnection(state: .connecting(step: 0), attempt: 1), at: nil)) == "-")
    }

    @Test("another radio is tried at once, and again with a pause")
    func otherRadio() {
        let other = Self.end(BluetoothError.otherRadioName)
        #expect(
            steps(PairingAttempt(), [Self.link, other, Self.link, Self.end(), .pauseEnded, Self.end()])
                == ["found", "at once", "found", "at once", "-", "-"])
        var attempt = PairingAttempt(isCheck: false, isLinked: false)
        let error = TagConnectionError(.bluetoothConnectionError, "", stackName: BluetoothError.otherRadioName)
        _ = attempt.changed(TagConnection(state: .preparingToConnect, attempt: 1, error: error), at: .number(1))
        #expect(attempt.overdue.code == .bluetoothDeviceNotFound, "the change of the radio is no failure")
    }

    @Test("a check fails with three links that end, or with a refused bond; attempts without a link don't count")
    func check() {
        let check = PairingAttempt(isCheck: true)
        #expect(steps(check, [Self.end(), Self.end(), Self.end(), Self.end()]) == ["-", "-", "-", "-"])
        #expect(
            steps(check, [Self.link, Self.end(), Self.link, Self.end(), Self.link, Self.end()])
                == ["found", "at once", "found", "at once", "found", "failed: ended"])
        #expect(steps(check, [Self.link, Self.end(BluetoothError.bondRefusedName)]) == ["found", "failed: ended"])
        #expect(steps(check, [Self.link, .connection(.connected)]) == ["found", "paired"])
    }

    @Test("the link that a check finds is dropped, and is none of the three")
    func dropped() {
        let check = PairingAttempt(isCheck: true, isLinked: true)
        #expect(
            steps(check, [.connection(.connected), Self.end(), Self.link, .connection(.connected)])
                == ["-", "-", "found", "paired"])
    }
}
