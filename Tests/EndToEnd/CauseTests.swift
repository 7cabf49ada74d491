import EventLoop
import Foundation
import TestSupport
import Testing

/// A fault of Bluetooth, and what all voices say about it.
struct CauseCase: CustomTestStringConvertible, Sendable {
    /// The command for the simulator.
    let fault: String
    /// Further lines of the configuration.
    var settings = ""
    /// How many adapters there are.
    var adapters = 1
    /// The problem in `health`.
    let problem: String
    /// The check of `doctor` and `request/doctor`.
    let check: String
    /// The cause, in the words of all voices.
    let text: String
    /// The advice of all voices.
    let advice: String
    /// Whether tags that are connected stay so.
    var leavesLinks = false

    var testDescription: String { fault }

    static let all: [CauseCase] = [
        CauseCase(
            fault: "adapter off", problem: "no_adapter", check: "adapter", text: "the adapter hci0 is switched off",
            advice: "bluetoothctl power on"),
        CauseCase(
            fault: "adapter unplug", problem: "no_adapter", check: "adapter", text: "bluetoothd knows no adapter",
            advice: "plug one in, then: lsusb; bluetoothctl list"),
        CauseCase(
            fault: "adapter unplug 0", settings: "bluetooth: {adapter: hci0}", adapters: 2, problem: "no_adapter",
            check: "adapter", text: "there is no adapter hci0, which bluetooth.adapter names; there is hci1",
            advice: "set bluetooth.adapter to one of these, or to auto"),
        CauseCase(
            fault: "crash-bluez 600000", problem: "no_adapter", check: "bluetooth_service",
            text: "bluetoothd is not", advice: "blue"),
        CauseCase(
            fault: "bluez refuse StartDiscovery InProgress Operation already in progress", problem: "discovery_failed",
            check: "discovery", text: "bluetoothd refuses to search for tags: ",
            advice: "sudo systemctl restart bluetooth",
            leavesLinks: true),
    ]
}

@Suite("The cause of a fault of Bluetooth")
struct CauseTests {
    private typealias Finding = [String: Any]

    @Test("of a device that was deleted in Home Assistant is a problem, and a finding of request/doctor and doctor")
    func deleted() async throws {
        try await inWorld { world in
            try await world.connected()
            let topic = "homeassistant/device/jacquard_tag_0001/config"
            try await until("the announcement") { world.observer.latest(topic)?.isEmpty == false }
            _ = try await world.run("mosquitto_pub", ["-p", "\(world.broker.port)", "-r", "-n", "-t", topic])
            try await until("the problem") { world.problems == ["deleted_in_home_assistant"] }
            let data = try await world.succeeds(World.bridge + "/request/doctor")
            let checks = try #require(data["checks"] as? [Finding])
            let finding = try #require(checks.first { $0["name"] as? String == "home_assistant" }, "\(checks)")
            #expect((finding["found"] as? String)?.contains("was deleted in Home Assistant") == true)
            let doctor = try await world.client("doctor")
            #expect(doctor.printed.contains("was deleted in Home Assistant"), "\(doctor.printed)")
        }
    }

    @Test(
        "is the same in health, connection, the log, request/doctor, doctor, why and status", arguments: CauseCase.all)
    func voices(fault: CauseCase) async throws {
        let plan = WorldPlan(options: ["--adapters", "\(fault.adapters)"], settings: fault.settings)
        try await inWorld(plan) { world in
            try await world.connected()
            try await world.simulate(fault.fault)
            // A connected tag needs no search.
            if fault.leavesLinks { try await world.simulate("out-of-range 0001") }
            try await until("the problem") {
                world.problems == [fault.problem] || world.problems.contains(fault.problem)
            }
            let health = world.observer.document(World.bridge + "/health")
            let problem = try #require(
                (health["problems"] as? [Finding])?.first { $0["code"] as? String == fault.problem })
            let sentence = try #require(problem["text"] as? String)
            #expect(sentence.contains(fault.text) && sentence.contains(fault.advice), "\(sentence)")
            #expect(health["status"] as? String == (fault.leavesLinks ? "degraded" : "failed"))
            if !fault.leavesLinks {
                try await until("the tag's error") {
                    let error = world.connectionError()
                    return (error["text"] as? String)?.contains(fault.text) == true
                        && (error["hint"] as? String)?.contains(fault.advice) == true
                }
            }
            try await world.logs(fault.text)
            let data = try await world.succeeds(World.bridge + "/request/doctor", "0001")
            let checks = try #require(data["checks"] as? [Finding])
            let finding = try #require(checks.first { $0["name"] as? String == fault.check })
            #expect(finding["verdict"] as? String == "failed", "\(finding)")
            #expect((finding["found"] as? String)?.contains(fault.text) == true, "\(finding)")
            #expect((finding["remedies"] as? [String])?.contains { $0.contains(fault.advice) } == true, "\(finding)")
            #expect(data["broken"] as? String == fault.check, "\(data)")
            let why = try await world.client("why", "0001")
            #expect(
                why.status == 1 && why.printed.contains(fault.text) && why.printed.contains(fault.advice),
                "\(why.printed)")
            for other in ["Switch the Bluetooth adapter on", "charge it", "scan pauses"] {
                #expect(!why.printed.contains(other), "one advice: \(why.printed)")
            }
            let doctor = try await world.client("doctor")
            #expect(doctor.status == 1 && doctor.printed.contains(fault.text), "\(doctor.printed)")
            let status = try await world.client("status")
            #expect(status.printed.contains(fault.text), "\(status.printed)")
        }
    }
}
