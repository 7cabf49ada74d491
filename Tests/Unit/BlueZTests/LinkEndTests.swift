import Bluetooth
import EventLoop
import FakeBlueZ
import TestSupport
import Testing

@testable import BlueZ
@testable import Simulator

@Suite("How a link has ended")
struct LinkEndTests {
    /// The error that the central reports for a link that ends.
    @LoopActor
    private static func end(
        _ options: BlueZOptions, _ end: @LoopActor (CentralBench) -> Void
    ) async throws -> BluetoothError? {
        let bench = try await CentralBench(options)
        var reason: BluetoothError?
        bench.onEvent = { if case .disconnected(_, let error) = $0 { reason = error } }
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
            #expect(remote == (areSignalled ? BluetoothError(linkEnd: "org.bluez.Reason.Remote") : .linkLost))
            #expect(timeout == (areSignalled ? BluetoothError(linkEnd: "org.bluez.Reason.Timeout") : .linkLost))
            #expect(remote?.end == (areSignalled ? .remote : nil))
            #expect(timeout?.end == (areSignalled ? .timeout : nil))
        }
    }

    @Test("has no reason from an earlier link of the device")
    func nextLink() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.reportsReasons = true
            let bench = try await CentralBench(options)
            var errors: [BluetoothError?] = []
            bench.onEvent = { if case .disconnected(_, let error) = $0 { errors.append(error) } }
            try await bench.connect()
            bench.tags[0].link?.drop()
            try await until("the end of the first link") { errors.count == 1 }
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1", 2)
            bench.blueZ.inject(.removeDevices)
            try await until("the end of the second link") { errors.count == 2 }
            #expect(errors.map(\.?.end) == [.remote, nil])
        }
    }

    @Test("is this host when bluetoothd has gone")
    func service() async throws {
        try await onLoop {
            let reason = try await Self.end(.quick) { $0.blueZ.crash() }
            #expect(reason?.end == .local)
        }
    }

    @Test("has the names of BlueZ")
    func names() {
        let names = ["Remote", "Timeout", "Local", "LocalSuspend", "Authentication", "Unknown"]
        let reasons = names.map { BluetoothError.DisconnectReason(bluez: "org.bluez.Reason." + $0) }
        #expect(reasons == [.remote, .timeout, .local, .local, nil, nil])
    }

    @Test(
        "is an error with BlueZ's name and a text that says who ended it",
        arguments: [
            ("Remote", "the device ended the link"), ("Timeout", "the link was lost: nothing was received"),
            ("Local", "the host ended the link"), ("Suspend", "the host ended the link"),
            ("Authentication", "the authentication failed"), ("Unknown", "the link was lost"),
            ("Weather", "the link was lost"),
        ])
    func text(of reason: String, _ text: String) {
        let error = BluetoothError(linkEnd: "org.bluez.Reason." + reason)
        #expect(error.code == .connectionFailed)
        #expect(error.name == "org.bluez.Reason." + reason)
        #expect(error.text == text)
        #expect(BluetoothError.bondLost(error).end == error.end)
    }
}
