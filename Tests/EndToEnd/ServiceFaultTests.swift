import DBus
import EventLoop
import Foundation
import Logging
import TestSupport
import Testing

@Suite("An unusable link")
struct ServiceFaultTests {
    /// The fault that makes a link unusable, and the code that a user sees.
    static let troubles: [(lines: [String], code: String)] = [
        (["bluez hide-services"], "service_discovery_error"),
        (["bluez hide-characteristics"], "characteristic_discovery_error"),
        (["bluez resolve-nothing"], "bluetooth_connection_error"),
        (refusingNotifications("Failed"), "bluetooth_notification_update_error"),
        (refusingNotifications("NotPermitted Notify acquired"), "subscription_stuck"),
        (["fault 0001 status 4"], "jacquard_initialization_error"),
        (["fault 0001 no-body"], "malformed_response_error"),
    ]

    private static func refusingNotifications(_ error: String) -> [String] {
        ["AcquireNotify", "StartNotify"].map { "bluez refuse \($0) \(error)" }
    }

    @Test("is reported with its code, dropped and made again", arguments: troubles)
    func reported(lines: [String], code: String) async throws {
        try await inWorld { world in
            try await world.connected()
            for line in lines { try await world.simulate(line) }
            try await world.simulate("out-of-range 0001")
            try await world.tagIsMissed()
            try await world.simulate("in-range 0001")
            try await until("the error", within: .seconds(60)) {
                world.connectionError()["code"] as? String == code
                    && world.connectionError()["text"] as? String != "the link was lost"
            }
            #expect(world.observer.latest("jacquard/tag/0001/availability") == "offline")
            try await world.simulate("bluez clear")
            try await world.simulate("fault 0001 clear")
            try await world.tagReturns(after: lines[0], within: .seconds(60))
            try await world.isOfUse()
        }
    }

    @Test("is kept after BlueZ closed its descriptors: the bridge subscribes again on the same link")
    func deaf() async throws {
        try await inWorld { world in
            try await world.connected()
            let subscribed = world.told("subscribed").count
            try await world.simulate("bluez close-descriptors")
            try await until("new subscriptions") { world.told("subscribed").count >= subscribed + 3 }
            try await world.isOfUse()
            #expect(world.observer.payloads(of: "jacquard/tag/0001/availability").last == "online")
            #expect(world.told("connected").count == 1)
        }
    }

    @Test("is made again after another client has removed the device")
    func removed() async throws {
        try await inWorld { world in
            try await world.connected()
            let rival = try await world.otherClient()
            _ = try await rival.call(
                .call(
                    to: "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "RemoveDevice",
                    [.objectPath("/org/bluez/hci0/dev_F0_00_00_00_00_01")]))
            try await world.tagIsMissed()
            try await world.tagReturns(after: "device removed by another client")
            try await world.isOfUse()
            rival.close()
        }
    }

    @Test("is made again after BlueZ has dropped its objects without a signal")
    func vanished() async throws {
        try await inWorld(tags: 3) { world in
            try await world.connected(1...3)
            try await world.simulate("bluez remove-devices")
            for number in 1...3 { try await world.tagIsMissed(World.serial(number)) }
            try await world.recovers(from: "all devices vanished from the bus") {
                (1...3).allSatisfy { world.isConnected(World.serial($0)) }
            }
            try await world.isOfUse()
        }
    }

    @Test("with notifications of another client is retried until that client releases them")
    func taken() async throws {
        try await inWorld { world in
            try await world.connected()
            for member in ["AcquireNotify", "StartNotify"] {
                try await world.simulate("bluez refuse \(member) NotPermitted Notify acquired")
            }
            try await world.simulate("out-of-range 0001")
            try await world.tagIsMissed()
            try await world.simulate("in-range 0001")
            try await until("the next attempt is announced") {
                world.connectionError()["bluez"] as? String == "org.bluez.Error.NotPermitted" && world.pauses.count > 1
            }
            try await world.simulate("bluez clear")
            try await world.tagReturns(after: "notifications held by another client")
            try await world.isOfUse()
        }
    }

    @Test("shared with a client that uses signals delivers each gesture once, by signals")
    func shared() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("out-of-range 0001")
            try await world.tagIsMissed()
            let rival = try await world.otherClient()
            let path = try #require(try await world.gestureCharacteristic(rival))
            _ = try await rival.call(.call(to: "org.bluez", path, "org.bluez.GattCharacteristic1", "StartNotify"))
            try await world.simulate("in-range 0001")
            try await world.tagReturns(after: "another client is notified as well")
            try await world.simulate("gesture 0001 cycle 6 10")
            try await until("the last") {
                world.observer.document("jacquard/tag/0001/stats")["last_seq"] as? Int == 6
            }
            let words = world.results("jacquard/tag/0001/gesture").compactMap { $0["event_type"] as? String }
            #expect(words == ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"])
            rival.close()
        }
    }

    @Test("is found again after BlueZ has ended the discovery")
    func discoveryEnded() async throws {
        try await inWorld { world in
            try await world.connected()
            try await world.simulate("out-of-range 0001")
            try await world.tagIsMissed()
            try await until("the bridge looks for it") { world.isDiscovering }
            try await world.simulate("bluez end-discovery")
            try await until("the end") { world.daemon.printed.contains("BlueZ has ended discovery") }
            try await world.simulate("in-range 0001")
            try await world.tagReturns(after: "discovery ended by somebody else")
            try await world.isOfUse()
        }
    }
}

extension World {
    /// Whether the bridge reports that the adapter is scanning.
    fileprivate var isDiscovering: Bool {
        observer.latest(Self.bridge + "/adapter")?.contains(#""discovering":true"#) == true
    }

    /// A client of BlueZ that is none of ours.
    fileprivate func otherClient() async throws -> DBusConnection {
        try await DBusConnection.open(
            environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? "", log: Logger("rival", to: MemorySink()))
    }

    /// The object of the characteristic that notifies gestures; there is one tag.
    fileprivate func gestureCharacteristic(_ client: DBusConnection) async throws -> String? {
        let answer = try await client.call(
            .call(to: "org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
        guard case .dictionary(let objects, _, _)? = answer.arguments.first else { return nil }
        return objects.lazy.filter { $0.1.textKeyed?["org.bluez.GattCharacteristic1"] != nil }
            .first { "\($0.1)".contains("d2f2b8d1-") }?.0.text
    }
}
