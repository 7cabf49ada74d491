import DBus
import EventLoop
import FakeBlueZ
import Logging
import TestSupport
import Testing

@Suite("Fake BlueZ: adapter and discovery")
struct DiscoveryTests {
    private static let service: DBusValue = .strings(["D2F2BF0D-D165-445C-B0E1-2D6B642EC57B"])

    @Test("has no device before a discovery, and reports both with all advertised properties")
    func discovery() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            #expect(try await bench.objects() == ["/org/bluez", "/org/bluez/hci0"])
            try await bench.discover()
            let device = try await bench.properties(of: BlueZBench.first, "org.bluez.Device1")
            #expect(device["Address"]?.text == "F0:00:00:00:00:01")
            #expect(device["AddressType"]?.text == "random")
            #expect(device["Name"]?.text == "Jacquard-0001")
            #expect(device["Alias"]?.text == "Jacquard-0001")
            #expect(device["Adapter"]?.text == BlueZBench.adapter)
            #expect(device["UUIDs"]?.textArray == ["d2f2bf0d-d165-445c-b0e1-2d6b642ec57b"])
            #expect(device["Connected"]?.flag == false)
            guard case .dictionary(let data, key: "q", value: "v")? = device["ManufacturerData"]?.unwrapped else {
                Issue.record("no manufacturer data")
                return
            }
            #expect(data.map(\.key.integer) == [224])
            #expect(data.map(\.value.unwrapped.byteArray) == [[0x00, 0x00, 0x04, 0x3F]])
        }
    }

    @Test("reports each advertisement to a client that requests duplicates, and the removed signal strength")
    func duplicates() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            let filter: [(String, DBusValue)] = [("UUIDs", Self.service), ("DuplicateData", .boolean(true))]
            try await bench.adapter("SetDiscoveryFilter", .properties(filter))
            try await bench.adapter("StartDiscovery")
            #expect(bench.signals.first == "hci0 Discovering=true")
            try await until("two advertisements behind the first") {
                bench.signals.filter { $0.contains("ManufacturerData=… RSSI=") && $0.contains("00_01") }.count >= 2
            }
            try await bench.adapter("StopDiscovery")
            #expect(bench.signals.filter { $0.contains("no RSSI") }.count == 2)
            #expect(bench.signals.contains("hci0 Discovering=false"))
            #expect(try await bench.properties(of: BlueZBench.first, "org.bluez.Device1")["RSSI"] == nil)
        }
    }

    @Test("hides from a client what its filter does not match")
    func filter() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.adapter("SetDiscoveryFilter", .properties([("Pattern", .string("Jacquard-0002"))]))
            try await bench.adapter("StartDiscovery")
            try await bench.wait("added dev_F0_00_00_00_00_02")
            #expect(!bench.signals.contains("added dev_F0_00_00_00_00_01"))
            let other: DBusValue = .strings(["180f"])
            try await bench.adapter("SetDiscoveryFilter", .properties([("UUIDs", other)]))
            #expect(
                await bench.failure { try await bench.adapter("SetDiscoveryFilter", .properties([("X", other)])) }
                    == "org.bluez.Error.InvalidArguments: Invalid arguments in method call")
        }
    }

    @Test("refuses a second start and a stop without a start")
    func sessions() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            #expect(
                await bench.failure { try await bench.adapter("StopDiscovery") }
                    == "org.bluez.Error.Failed: No discovery started")
            try await bench.adapter("StartDiscovery")
            #expect(
                await bench.failure { try await bench.adapter("StartDiscovery") }
                    == "org.bluez.Error.InProgress: Operation already in progress")
        }
    }

    @Test("ends the discovery of a client that leaves the bus")
    func clientLeaves() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            let other = try await DBusConnection.open(bench.bus.address, log: Logger("other", to: MemorySink()))
            _ = try await other.call(
                .call(to: "org.bluez", BlueZBench.adapter, "org.bluez.Adapter1", "StartDiscovery"))
            try await bench.wait("hci0 Discovering=true")
            other.close()
            try await bench.wait("hci0 Discovering=false")
        }
    }

    @Test("removes a temporary device that no longer advertises")
    func forgotten() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.temporaryTimeout = .milliseconds(100)
            let bench = try await BlueZBench(options)
            try await bench.discover()
            try await bench.wait("removed dev_F0_00_00_00_00_01")
            #expect(try await bench.objects() == ["/org/bluez", "/org/bluez/hci0"])
        }
    }

    @Test("without power rejects discovery, drops links and removes temporary devices")
    func powerOff() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            try await bench.adapter("StartDiscovery")
            bench.forget()
            let adapter = "org.bluez.Adapter1"
            _ = try await bench.set(BlueZBench.adapter, adapter, "Powered", .boolean(false))
            #expect(bench.signals.contains("removed dev_F0_00_00_00_00_02"))
            #expect(bench.signals.contains("dev_F0_00_00_00_00_01 Connected=false ServicesResolved=false"))
            #expect(bench.signals.contains("hci0 Discovering=false Powered=false"))
            for member in ["StartDiscovery", "StopDiscovery"] {
                #expect(
                    await bench.failure { try await bench.adapter(member) }
                        == "org.bluez.Error.NotReady: Resource Not Ready")
            }
            #expect(
                await bench.failure { try await bench.device("Connect") }
                    == "org.bluez.Error.Failed: Input/output error")
            bench.blueZ.setPowered(true)
            try await bench.reconnect()
        }
    }

    @Test("removes a device on request, with its link and everything below it")
    func removeDevice() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            bench.forget()
            try await bench.adapter("RemoveDevice", .objectPath(BlueZBench.first))
            try await bench.wait("removed dev_F0_00_00_00_00_01")
            #expect(
                bench.signals == [
                    "dev_F0_00_00_00_00_01 Connected=false ServicesResolved=false", "removed char0013",
                    "removed char0010", "removed char000d", "removed char000b", "removed service000a",
                    "removed dev_F0_00_00_00_00_01",
                ])
            #expect(
                await bench.failure { try await bench.adapter("RemoveDevice", .objectPath(BlueZBench.first)) }
                    == "org.bluez.Error.DoesNotExist: Does Not Exist")
        }
    }
}
