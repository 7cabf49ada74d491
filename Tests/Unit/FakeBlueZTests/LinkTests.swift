import DBus
import EventLoop
import FakeBlueZ
import JacquardProtocol
import Simulator
import TagFirmware
import TestSupport
import Testing

@Suite("Fake BlueZ: links and pairing")
struct LinkTests {
    private static let device = "dev_F0_00_00_00_00_01"

    @Test("reports the link, then the services, and then that they are resolved")
    func order() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            #expect(
                bench.signals == [
                    "\(Self.device) Connected=true", "added service000a", "added char000b", "added char000d",
                    "added char0010", "added char0013", "\(Self.device) ServicesResolved=true",
                ])
            let command = try await bench.properties(of: BlueZBench.path(.command), "org.bluez.GattCharacteristic1")
            #expect(command["UUID"]?.text == "d2f2eabb-d165-445c-b0e1-2d6b642ec57b")
            #expect(command["Flags"]?.textArray == ["write-without-response", "write"])
            #expect(command["Service"]?.text == BlueZBench.first + "/service000a")
            #expect(command["MTU"]?.integer == 247)
            #expect(command["Notifying"] == nil)
        }
    }

    @Test(
        "answers Connect when the link is up, or optionally when the services are resolved", arguments: [false, true])
    func answer(whenResolved: Bool) async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.answersConnectWhenResolved = whenResolved
            if !whenResolved { options.serviceDiscovery = .seconds(60) }
            let bench = try await BlueZBench(options)
            try await bench.discover()
            try await bench.device("Connect")
            #expect(
                bench.signals.last
                    == (whenResolved ? "\(Self.device) ServicesResolved=true" : "\(Self.device) Connected=true"))
            try await bench.device("Connect")
        }
    }

    @Test("ends a link on request with one signal, and keeps the services")
    func disconnect() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            bench.forget()
            try await bench.device("Disconnect")
            #expect(bench.signals == ["\(Self.device) Connected=false ServicesResolved=false"])
            try await bench.device("Disconnect")
            try await bench.reconnect()
            #expect(bench.signals == ["\(Self.device) Connected=true", "\(Self.device) ServicesResolved=true"])
        }
    }

    @Test("drops the services with the link when they are not cached")
    func noCache() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.gattCache = .bonded
            let bench = try await BlueZBench(options)
            try await bench.connect()
            bench.forget()
            try await bench.device("Disconnect")
            try await bench.wait("removed service000a")
            try await bench.device("Pair")
            bench.forget()
            try await bench.device("Disconnect")
            #expect(bench.signals == ["\(Self.device) Connected=false ServicesResolved=false"])
        }
    }

    @Test("times out for a device that does not advertise")
    func absent() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.connectTimeout = .milliseconds(50)
            let bench = try await BlueZBench(options)
            try await bench.discover()
            bench.tags[0].setInRange(false)
            #expect(
                await bench.failure { try await bench.device("Connect") }
                    == "org.bluez.Error.Failed: le-connection-abort-by-local")
        }
    }

    @Test("rejects a second Connect, and a Disconnect ends the first")
    func canceled() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.discover()
            bench.tags[0].setInRange(false)
            let first = bench.begin("Connect")
            #expect(
                await bench.failure { try await bench.device("Connect") }
                    == "org.bluez.Error.Failed: Operation already in progress")
            try await bench.device("Disconnect")
            #expect(first.text == "org.bluez.Error.Failed: br-connection-canceled")
        }
    }

    @Test("connects a device that comes back while it is waited for, and another one meanwhile")
    func waiting() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.discover()
            bench.tags[0].setInRange(false)
            let first = bench.begin("Connect")
            try await bench.device("Connect", at: BlueZBench.adapter + "/dev_F0_00_00_00_00_02")
            bench.tags[0].setInRange(true)
            try await until("the first is connected") { first.text == "no error" }
        }
    }

    @Test("drops the link of a device out of range after the supervision timeout, without values before")
    func outOfRange() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            bench.forget()
            bench.tags[0].setInRange(false)
            try await bench.wait("\(Self.device) Connected=false ServicesResolved=false")
            #expect(!bench.tags[0].firmware.isConnected)
        }
    }

    @Test("says why a link has ended before it reports the end, as bluetoothd 5.83 and later do")
    func reasons() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.reportsReasons = true
            let bench = try await BlueZBench(options)
            try await bench.connect()
            let ends: [(reason: String, end: @LoopActor () async throws -> Void)] = [
                ("Local", { try await bench.device("Disconnect") }), ("Timeout", { bench.tags[0].setInRange(false) }),
                ("Remote", { try bench.tags[0].execute(.sleep) }),
            ]
            for (reason, end) in ends {
                bench.forget()
                try await end()
                try await bench.wait("\(Self.device) Connected=false")
                #expect(
                    bench.signals == [
                        "\(Self.device) ServicesResolved=false", "\(Self.device) ended org.bluez.Reason.\(reason)",
                        "\(Self.device) Connected=false",
                    ])
                guard reason != "Remote" else { break }
                bench.tags[0].setInRange(true)
                try await bench.reconnect()
            }
        }
    }

    @Test("pairs on request, and keeps the device after a crash")
    func pair() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.discover()
            bench.forget()
            try await bench.device("Pair")
            #expect(
                Array(bench.signals.suffix(2)) == [
                    "\(Self.device) ServicesResolved=true", "\(Self.device) Bonded=true Paired=true",
                ])
            #expect(
                await bench.failure { try await bench.device("Pair") }
                    == "org.bluez.Error.AlreadyExists: Already Exists")
            bench.blueZ.crash()
            try await until("the name is free") { bench.owners.last == .some(nil) }
            #expect(!bench.tags[0].firmware.isConnected)
            try await bench.blueZ.start()
            #expect(
                try await bench.objects() == ["/org/bluez", "/org/bluez/hci0", BlueZBench.first])
            try await until("another owner") { bench.owners.last != .some(nil) }
            let device = try await bench.properties(of: BlueZBench.first, "org.bluez.Device1")
            #expect(device["Paired"]?.flag == true)
            let isAdvertised = device.keys.contains("ManufacturerData")
            #expect(!isAdvertised)
        }
    }

    @Test("fails a pairing that is canceled, or whose link breaks")
    func pairingFails() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.discover()
            #expect(
                await bench.failure { try await bench.device("CancelPairing") }
                    == "org.bluez.Error.DoesNotExist: Does Not Exist")
            bench.tags[0].setInRange(false)
            let pairing = bench.begin("Pair")
            try await bench.device("CancelPairing")
            #expect(pairing.text == "org.bluez.Error.AuthenticationCanceled: Authentication Canceled")
        }
    }

    @Test("denies access to a tag that requires pairing until an agent has agreed")
    func agent() async throws {
        try await onLoop {
            var tagOptions = TagOptions()
            tagOptions.wantsPairing = true
            let bench = try await BlueZBench(tagOptions: tagOptions)
            try await bench.connect()
            #expect(
                await bench.failure { try await bench.characteristic(.notify, "AcquireNotify", .properties([])) }
                    == "org.bluez.Error.NotPermitted: Not paired")
            try await bench.device("Disconnect")
            var asked: [String] = []
            bench.client.serve("/agent") { call in
                asked.append(call.message.member)
                call.reply()
            }
            let manager = "org.bluez.AgentManager1"
            let agent: DBusValue = .objectPath("/agent")
            try await bench.call("/org/bluez", manager, "RegisterAgent", agent, .string("NoInputNoOutput"))
            try await bench.call("/org/bluez", manager, "RequestDefaultAgent", agent)
            try await bench.reconnect()
            try await bench.wait("\(Self.device) Bonded=true Paired=true")
            #expect(asked == ["RequestAuthorization"])
            try await bench.characteristic(.notify, "AcquireNotify", .properties([]))
        }
    }
}
