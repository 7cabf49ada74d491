import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A fault of bluetoothd")
struct BluetoothFaultTests {
    @Test("that replaces it immediately is detected, and tags are connected again", arguments: [0, 50])
    func replaced(milliseconds: Int) async throws {
        try await inWorld(tags: 3) { world in
            try await world.connected(1...3)
            try await world.simulate("crash-bluez \(milliseconds)")
            for number in 1...3 { try await world.tagIsMissed(World.serial(number)) }
            try await world.recovers(from: "bluetoothd replaced within \(milliseconds) ms") {
                (1...3).allSatisfy { world.isConnected(World.serial($0)) }
            }
            try await world.isOfUse()
        }
    }

    /// The error of `Connect`, and the code that a user sees.
    static let refusals: [(error: String, text: String, code: String)] = [
        ("Failed", "le-connection-abort-by-local", "bluetooth_connection_error"),
        ("Failed", "Input/output error", "bluetooth_connection_error"),
        ("InProgress", "Operation already in progress", "bluetooth_connection_error"),
        ("ConnectionAttemptFailed", "Page Timeout", "bluetooth_connection_error"),
        ("AuthenticationFailed", "Authentication Failed", "bluetooth_connection_error"),
        ("NotReady", "Resource Not Ready", "bluetooth_power_off"),
        ("NotPermitted", "Not permitted", "unknown_bluetooth_error"),
        ("NotSupported", "Operation is not supported", "unknown_bluetooth_error"),
        ("DoesNotExist", "Does Not Exist", "bluetooth_device_not_found"),
        ("org.freedesktop.DBus.Error.NoReply", "Did not receive a reply", "bluetooth_connection_error"),
    ]

    @Test("that refuses to connect is reported with the time of the next attempt; pauses grow", arguments: refusals)
    func refused(error: String, text: String, code: String) async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("bluez refuse Connect \(error) \(text)")
            try await world.simulate("out-of-range 0001")
            try await world.tagIsMissed()
            world.observer.forget()
            try await world.simulate("in-range 0001")
            try await until("three refusals", within: .seconds(40)) { world.pauses.count >= 3 }
            let name = error.contains(".") ? error : "org.bluez.Error." + error
            #expect(world.connectionError()["code"] as? String == code)
            #expect(world.connectionError()["bluez"] as? String == name)
            let pauses = world.pauses
            // Each is spread by a quarter both ways around the double of the one before.
            #expect(zip(pauses, pauses.dropFirst(2)).allSatisfy { $0 * 2 < $1 }, "\(pauses)")
            #expect(pauses.allSatisfy { $0 <= 75_000 }, "\(pauses)")
            try await world.simulate("bluez clear")
            try await world.tagReturns(after: "Connect refused with \(error) \(text)")
            try await world.isOfUse()
        }
    }

    @Test("that hangs ends each command once; late responses are accepted")
    func frozen() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.settled()
            world.simulator.signal(SIGSTOP)
            let result = try await world.command("jacquard/tag/0001/led/set", "flash", within: .seconds(40))
            #expect(World.code(of: result) == "timeout")
            #expect(try await world.request("health")["status"] as? String == "ok")
            world.simulator.signal(SIGCONT)
            let topic = "jacquard/tag/0001/battery"
            let count = world.finals(topic + "/result").count
            try world.observer.publish(topic + "/get", "")
            try await world.recovers(from: "bluetoothd frozen") { world.finals(topic + "/result").count > count }
            try await world.isOfUse()
            #expect(world.finals("jacquard/tag/0001/led/result").count == 2)
        }
    }

    @Test("that refuses one tag delays no other")
    func fairness() async throws {
        try await inWorld(tags: 2) { world in
            try await world.connected(1...2)
            try await world.simulate("bluez refuse AcquireNotify Failed")
            try await world.simulate("out-of-range 0001")
            try await world.tagIsMissed()
            try await world.simulate("in-range 0001")
            try await until("an attempt has failed") { !world.connectionError().isEmpty && !world.pauses.isEmpty }
            try await world.isOfUse("0002")
            try await world.simulate("bluez clear")
            try await world.tagReturns(after: "notifications refused")
            #expect(world.told("disconnected").allSatisfy { $0["tag"] as? String == "0001" })
        }
    }

    @Test(
        "that never answers ends at a time limit",
        arguments: ["Connect", "AcquireNotify", "AcquireWrite", "WriteValue", "StartDiscovery"])
    func silent(member: String) async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("bluez ignore \(member)")
            try await world.simulate("out-of-range 0001")
            try await world.tagIsMissed()
            try await world.simulate("in-range 0001")
            try await until("the bridge has given up once", within: .seconds(90)) {
                world.daemon.printed.contains("a call on the bus has timed out member=\(member)")
            }
            #expect(try await world.request("health")["status"] as? String == "ok")
            try await world.simulate("bluez clear")
            try await world.tagReturns(after: "\(member) never answered")
            try await world.isOfUse()
        }
    }
}

extension World {
    /// The pauses before the next attempts with the first tag that were published, in milliseconds.
    var pauses: [Int] {
        results("jacquard/tag/0001/connection").compactMap { $0["retry_in_ms"] as? Int }
    }
}
