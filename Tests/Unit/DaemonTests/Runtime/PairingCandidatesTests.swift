import Bluetooth
import Jacquard
import JacquardProtocol
import Testing

@testable import Daemon

@Suite("Pairing candidates")
struct PairingCandidatesTests {
    private let address = BluetoothAddress("F0:00:00:00:00:01")

    private func connection(_ state: TagConnection.State) -> TagEvent {
        .connection(TagConnection(state: state, attempt: 1))
    }

    private func battery(_ level: UInt32) -> TagEvent { .battery(BatteryStatus(level: level, isCharging: false)) }

    @Test("keep what a tag reported in its last connection attempt only")
    func lastAttempt() throws {
        let identity = TagIdentity(address: try #require(address))
        var candidates = PairingCandidates()
        candidates.expect(identity)
        for event in [
            connection(.preparingToConnect), battery(90), .gear(nil), connection(.preparingToConnect),
            connection(.connecting(step: 0)), .touchMode(.gesture), connection(.connected),
        ] {
            candidates.take(event, of: identity)
        }
        #expect(candidates.remove(identity)?.events == [.touchMode(.gesture), connection(.connected)])
        #expect(candidates.remove(identity) == nil)
    }

    @Test("keep the last event of each kind and no gestures, so that their memory is bounded")
    func bounded() throws {
        let identity = TagIdentity(address: try #require(address))
        let touch = try #require(TouchData(sequence: 1, scaled: Array(0..<13)))
        var candidates = PairingCandidates()
        candidates.expect(identity)
        for level in 0..<10_000 as Range<UInt32> {
            for event in [battery(level % 100), .gesture(.doubleTap), .touch(touch), .fragmentsLost, .gear(nil)] {
                candidates.take(event, of: identity)
            }
        }
        #expect(candidates.remove(identity)?.events == [battery(99), .gear(nil)])
    }

    @Test("are only those that are being paired")
    func strangers() throws {
        let identity = TagIdentity(address: try #require(address))
        var candidates = PairingCandidates()
        candidates.take(battery(1), of: identity)
        #expect(candidates.remove(identity) == nil)
    }
}
