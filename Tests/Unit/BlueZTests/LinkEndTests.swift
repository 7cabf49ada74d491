import Bluetooth
import EventLoop
import FakeBlueZ
import TestSupport
import Testing

@testable import BlueZ
@testable import Simulator

@Suite("How a link has ended")
struct LinkEndTests {
    /// The reason that the central reports for a link that ends.
    @LoopActor
    private static func end(
        _ options: BlueZOptions, _ end: @LoopActor (CentralBench) -> Void
    ) async throws -> BluetoothError.DisconnectReason? {
        let bench = try await CentralBench(options)
        var reason: BluetoothError.DisconnectReason?
        bench.onEvent = { if case .disconnected(_, let error) = $0 { reason = error?.end } }
        try await bench.connect()
        end(bench)
        try await until("the end of the link") { bench.events.contains { $0.hasPrefix("disconnected 1") } }
        return reason
    }

    @Test("is reported where BlueZ signals it", arguments: [true, false])
    func reasons(areSignalled: Bool) async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.reportsReasons = areSignalled
            let remote = try await Self.end(options) { $0.tags[0].link?.drop() }
            let timeout = try await Self.end(options) { $0.tags[0].setInRange(false) }
            #expect(remote == (areSignalled ? .remote : nil))
            #expect(timeout == (areSignalled ? .timeout : nil))
        }
    }

    @Test("is this host when bluetoothd has gone")
    func service() async throws {
        try await onLoop {
            let reason = try await Self.end(.quick) { $0.blueZ.crash() }
            #expect(reason == .local)
        }
    }

    @Test("has the names of BlueZ")
    func names() {
        let names = ["Remote", "Timeout", "Local", "LocalSuspend", "Authentication", "Unknown"]
        let reasons = names.map { BluetoothError.DisconnectReason(bluez: "org.bluez.Reason." + $0) }
        #expect(reasons == [.remote, .timeout, .local, .local, nil, nil])
    }
}
