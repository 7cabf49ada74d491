import EventLoop
import Testing

@testable import TestSupport

@Suite("Gate of the tests")
struct LoopGateTests {
    @Test("admits a test again that already has a place, while another test waits for exclusive use")
    func nested() async throws {
        let alone = try await onLoop {
            let alone = Task.detached { try await onLoop(alone: true) { LoopGate.isOccupied } }
            try await until("the other test waits") { LoopGate.isOccupied }
            var isDone = false
            let inner = Task { try await onLoop { isDone = true } }
            try await until("the inner call") { isDone }
            try await inner.value
            return alone
        }
        _ = try await alone.value
    }

    @Test("refuses exclusive use to a test that already has a place, because it would wait for itself")
    func aloneInside() async throws {
        try await onLoop {
            let error = await #expect(throws: Overdue.self) { try await onLoop(alone: true) {} }
            #expect(error != nil)
        }
    }
}
