import Bluetooth
import DBus
import EventLoop
import FakeBlueZ
import JacquardProtocol
import Logging
import Simulator
import TestSupport
import Testing

@testable import BlueZ

@Suite("Pairing")
struct PairingTests {
    @Test("a bond that is there already is one, and one that the device makes is not there yet")
    func outcomes() {
        func outcome(_ name: String) -> DevicePairing.Outcome {
            DevicePairing.Outcome(.failure(DBusError(.refused, name: "org.bluez.Error.\(name)", text: "")))
        }
        guard case .bonded = outcome("AlreadyExists"), case .begun = outcome("InProgress"),
            case .failed = outcome("AuthenticationFailed")
        else {
            Issue.record("another outcome")
            return
        }
    }

    private static var wanting: TagOptions {
        var options = TagOptions()
        options.wantsPairing = true
        return options
    }

    @Test("bonds and sets Trusted; an already bonded device counts as paired")
    func pair() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.pair()
            #expect(bench.calls.contains("Set 1"))
            try await until("the bond") { bench.bonds == [[CentralBench.address(1)]] }
            // bluetoothd 5.66 does not always answer here.
            bench.blueZ.faults.unanswered = ["Pair"]
            bench.central.perform(.pair(CentralBench.address(1)))
            try await bench.wait("paired 1", 2)
            bench.central.perform(.forget(CentralBench.address(1)))
            try await bench.wait("forgotten 1")
            // The answer to RemoveDevice may come before the signal of the removed object.
            try await until("the end of the bond") { bench.bonds == [[CentralBench.address(1)], []] }
        }
    }

    @Test("is complete with the bond, even if bluetoothd does not answer")
    func unanswered() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            bench.blueZ.faults.forgetsToAnswerPair = true
            try await bench.pair()
            #expect(bench.calls.contains("Set 1"))
        }
    }

    @Test("requested while the connection is being made starts when the connection is complete")
    func duringConnect() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.answersConnectWhenResolved = true
            let bench = try await CentralBench(options)
            var callsAtRequest: [String] = []
            bench.onEvent = { [unowned bench] event in
                guard case .connected(let address) = event else { return }
                #expect(bench.central.links.attempt != nil)
                bench.central.perform(.pair(address))
                callsAtRequest = bench.calls
                #expect(bench.central.links[address]?.wantsPairing == true)
            }
            try await bench.connect()
            try await bench.wait("paired 1")
            #expect(!callsAtRequest.contains("Pair 1"))
            #expect(bench.central.links[CentralBench.address(1)]?.wantsPairing == false)
        }
    }

    @Test("joins a pairing in progress")
    func underWay() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            for _ in 1...2 { bench.central.perform(.pair(CentralBench.address(1))) }
            try await bench.wait("paired 1")
            #expect(!bench.events.contains { $0.hasPrefix("pairFailed") })
        }
    }

    @Test("fails with the error of BlueZ")
    func refused() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            bench.blueZ.faults.refused["Pair"] = ("org.bluez.Error.AuthenticationFailed", "Authentication Failed")
            bench.central.perform(.pair(CentralBench.address(1)))
            try await bench.wait("pairFailed 1 authenticationFailed")
        }
    }

    @Test(
        "that a device requests is accepted from expected devices only", arguments: [true, false])
    func agent(isExpected: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench(tagOptions: Self.wanting)
            bench.central.perform(.acceptPairing(from: [CentralBench.address(isExpected ? 1 : 2)]))
            try await bench.connect()
            if isExpected {
                try await until("the bond") {
                    bench.central.context.device(CentralBench.address(1))?.object.isPaired == true
                }
                #expect(bench.complaints == ["accepted a pairing"])
            } else {
                try await until("the refusal is told") { !bench.complaints.isEmpty }
                try await bench.settle()
                #expect(bench.central.context.device(CentralBench.address(1))?.object.isPaired == false)
                #expect(bench.complaints == ["refused the pairing of an unexpected device"])
            }
        }
    }

    @Test(
        "never asks the user, and only bluetoothd can use its agent",
        arguments: [
            ("RequestPinCode", true, "org.bluez.Error.Rejected"), ("RequestPasskey", true, "org.bluez.Error.Rejected"),
            ("Release", true, ""), ("Cancel", true, ""),
            // The device is no object of this bluetoothd.
            ("RequestAuthorization", true, "org.bluez.Error.Rejected"),
            ("RequestAuthorization", false, "org.freedesktop.DBus.Error.AccessDenied"),
        ])
    func questions(member: String, isBlueZ: Bool, error: String) async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            let stub = try await StubBlueZ(bus)
            let other = try await DBusConnection.open(bus.address, log: Logger("other", to: MemorySink()))
            let central = BlueZCentral(busAddress: bus.address, log: Logger("bluez", to: MemorySink()))
            await central.start()
            try await until("the agent is registered") { stub.agent != nil }
            let agent = try #require(stub.agent)
            let asking = isBlueZ ? stub.connection : other
            var name = ""
            do throws(DBusError) {
                _ = try await asking.call(
                    .call(
                        to: agent, "/org/jacquard2mqtt/agent", "org.bluez.Agent1", member,
                        [.objectPath("/org/bluez/hci0/dev_F0_00_00_00_00_01")]))
            } catch {
                name = error.name
            }
            #expect(name == error)
        }
    }

    @Test("is refused for unexpected devices, of which 100 are logged, once each")
    func refusalsInLog() async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            let stub = try await StubBlueZ(bus)
            let sink = MemorySink()
            let central = BlueZCentral(busAddress: bus.address, log: Logger("bluez", to: sink))
            await central.start()
            try await until("the agent is registered") { stub.agent != nil }
            let agent = try #require(stub.agent)
            for number in Array(0..<110) + [0, 99, 109] {
                let device = "/org/bluez/hci0/dev_F0_00_00_00_0\(number / 100)_\(number % 100 / 10)\(number % 10)"
                await #expect(throws: DBusError.self) {
                    _ = try await stub.connection.call(
                        .call(
                            to: agent, "/org/jacquard2mqtt/agent", "org.bluez.Agent1", "RequestAuthorization",
                            [.objectPath(device)]))
                }
            }
            #expect(sink.records.count { $0.message == "refused the pairing of an unexpected device" } == 100)
        }
    }

    @Test("is removed by forgetting, which ends the link without an error")
    func forget() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.pair()
            bench.central.perform(.forget(CentralBench.address(1)))
            try await bench.wait("forgotten 1")
            #expect(bench.events.suffix(2) == ["disconnected 1", "forgotten 1"])
        }
    }

    @Test("forgets a device that BlueZ does not know, and reports failure without an adapter")
    func forgetUnknown() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.central.perform(.connect(CentralBench.address(1)))
            bench.central.perform(.forget(CentralBench.address(1)))
            try await bench.wait("forgotten 1")
            #expect(bench.events.suffix(2) == ["disconnected 1", "forgotten 1"])
            bench.blueZ.setPowered(false)
            try await bench.wait("state poweredOff")
            bench.central.perform(.forget(CentralBench.address(1)))
            try await bench.wait("forgotten 1 poweredOff")
        }
    }

    @Test("disconnects a device that BlueZ does not forget")
    func forgetRefused() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            bench.blueZ.faults.refused["RemoveDevice"] = ("org.bluez.Error.Failed", "no")
            bench.central.perform(.forget(CentralBench.address(1)))
            try await bench.wait("forgotten 1 connectionFailed")
            try await bench.waitForCall("Disconnect 1")
            #expect(bench.events.count { $0.hasPrefix("disconnected") } == 1)
        }
    }

    @Test("counts as lost after three links in a row that break immediately")
    func lostBond() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.pair()
            try await bench.disconnect()
            bench.clear()
            bench.blueZ.faults.lostBonds = [CentralBench.address(1).description]
            for number in 1...3 {
                bench.central.perform(.connect(CentralBench.address(1)))
                try await until("end \(number)") { bench.events.count { $0.hasPrefix("disconnected") } == number }
            }
            #expect(
                bench.events.filter { $0.hasPrefix("disconnected") } == [
                    "disconnected 1 connectionFailed", "disconnected 1 connectionFailed",
                    "disconnected 1 authenticationFailed",
                ])
            bench.central.perform(.forget(CentralBench.address(1)))
            try await bench.wait("forgotten 1")
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1", 4)
            try await bench.discover()
        }
    }

    @Test("counts as lost when a bonded device denies access to its characteristics")
    func lostBondInAccess() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.pair()
            try await bench.discover()
            bench.blueZ.faults.refused["WriteValue"] = ("org.bluez.Error.NotPermitted", "Not paired")
            var texts: [String] = []
            bench.onEvent = { if case .writeFailed(_, let error) = $0 { texts.append(error.text) } }
            bench.write([1], .withResponse)
            try await bench.wait("writeFailed 1 authenticationFailed")
            #expect(texts.first?.hasPrefix("the device has lost its bond") == true)
        }
    }

    private static var secretive: TagOptions {
        var options = TagOptions()
        options.demandsEncryption = true
        return options
    }

    private static var readable: TagOptions {
        var options = secretive
        options.allowsReading = true
        return options
    }

    @Test(
        "is done before the first subscription if a device refuses an unencrypted read",
        arguments: [
            ("NotPermitted", "Not paired"), ("NotAuthorized", "Operation Not Authorized"),
            ("AuthenticationFailed", "Authentication Failed"),
        ])
    func beforeSubscribing(error: String, text: String) async throws {
        try await onLoop {
            let bench = try await CentralBench(tagOptions: Self.readable)
            bench.blueZ.faults.refused["ReadValue"] = ("org.bluez.Error." + error, text)
            bench.blueZ.faults.losesSubscriptions = true
            try await bench.subscribe()
            let members = bench.calls.map { $0.prefix { $0 != " " } }
            let steps = members.filter { ["ReadValue", "Pair", "Set", "AcquireNotify"].contains($0) }
            #expect(steps == ["ReadValue", "Pair", "Set", "AcquireNotify"])
            #expect(bench.events.filter { $0.hasPrefix("paired") } == ["paired 1"])
            #expect(bench.central.links.peripherals[CentralBench.address(1)]?.isPaired == true)
        }
    }

    @Test("after which bluetoothd answers nothing ends the link, and the next link works")
    func deafBehindPairing() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.afterBond = .milliseconds(60)
            let bench = try await CentralBench(timing: timing, tagOptions: Self.readable)
            try await bench.connect()
            try await bench.discover()
            bench.blueZ.faults.unanswered = ["ReadValue"]
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await until("the read") { bench.calls.contains { $0.hasPrefix("ReadValue") } }
            // As bluetoothd does by itself.
            let other = try await bench.otherConnection()
            let path = try #require(bench.central.context.device(CentralBench.address(1))?.path)
            _ = try await other.call(.call(to: "org.bluez", path, "org.bluez.Device1", "Pair"))
            try await bench.wait("disconnected 1 connectionFailed")
            #expect(!bench.calls.contains { $0.hasPrefix("AcquireNotify") })
            bench.clear()
            try await bench.subscribe()
            #expect(!bench.calls.contains { $0.hasPrefix("ReadValue") })
        }
    }

    @Test("that bluetoothd makes by itself and that loses the subscription ends the link, and the next link works")
    func lostSubscription() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.afterBond = .milliseconds(60)
            let bench = try await CentralBench(timing: timing, tagOptions: Self.secretive)
            bench.blueZ.faults.losesSubscriptions = true
            try await bench.connect()
            try await bench.discover()
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("paired 1")
            try await bench.wait("disconnected 1 connectionFailed")
            let members = bench.calls.map { $0.prefix { $0 != " " } }
            let end = ["AcquireNotify", "Set", "StopNotify", "Disconnect"]
            #expect(members.filter { end.contains(String($0)) } == end.map { $0[...] })
            bench.clear()
            try await bench.subscribe()
            #expect(!bench.calls.contains { $0.hasPrefix("StopNotify") })
        }
    }

    @Test("that a device requests is completed before the subscription, and sets Trusted")
    func askedFor() async throws {
        try await onLoop {
            let bench = try await CentralBench(tagOptions: Self.wanting)
            bench.central.perform(.acceptPairing(from: [CentralBench.address(1)]))
            try await bench.subscribe()
            try await bench.wait("paired 1")
            #expect(bench.blueZ.isTrusted(bench.tags[0].address))
        }
    }

    @Test("that fails is tried once, then the subscription is tried without it")
    func refusedBond() async throws {
        try await onLoop {
            let bench = try await CentralBench(tagOptions: Self.readable)
            bench.blueZ.faults.refused["Pair"] = ("org.bluez.Error.AuthenticationFailed", "Authentication Failed")
            try await bench.connect()
            try await bench.discover()
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribeFailed 1 authenticationFailed")
            #expect(!bench.events.contains { $0.hasPrefix("pairFailed") })
            bench.central.perform(.subscribe(TagCharacteristic.response.bluetooth, of: CentralBench.address(1)))
            try await bench.wait("subscribeFailed 1 authenticationFailed", 2)
            #expect(bench.calls.count { $0 == "Pair 1" } == 1, "once on each link")
        }
    }

    @Test("that a device is known to require is made on the next link without a read")
    func knownRequirement() async throws {
        try await onLoop {
            let bench = try await CentralBench(tagOptions: Self.readable)
            bench.blueZ.faults.refused["Pair"] = ("org.bluez.Error.AuthenticationFailed", "Authentication Failed")
            try await bench.connect()
            try await bench.discover()
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribeFailed 1 authenticationFailed")
            bench.central.perform(.disconnect(CentralBench.address(1)))
            try await until("no link") { bench.central.links.peripherals.isEmpty }
            bench.clear()
            bench.blueZ.faults.refused = [:]
            try await bench.subscribe()
            let members = bench.calls.map { $0.prefix { $0 != " " } }
            let steps = members.filter { ["ReadValue", "Pair", "AcquireNotify"].contains($0) }
            #expect(steps == ["Pair", "AcquireNotify"])
        }
    }

    @Test("is reported once: a later link to a bonded device reports none and sets no property")
    func reportedOnce() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.pair()
            try await bench.disconnect()
            bench.clear()
            try await bench.subscribe()
            try await bench.settle()
            #expect(!bench.calls.contains("Set 1"))
            #expect(!bench.events.contains("paired 1"))
        }
    }

    @Test("changes device properties without reporting an advertisement")
    func noAdvertisement() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            bench.clear()
            try await bench.pair()
            try await bench.settle()
            #expect(bench.heard[CentralBench.address(1)] == nil)
        }
    }

    @Test("is skipped if the device does not answer the read, which is repeated on the next link")
    func slowRead() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.probe = .milliseconds(50)
            timing.bond = .seconds(3_600)
            var options = TagOptions()
            options.allowsReading = true
            let bench = try await CentralBench(timing: timing, tagOptions: options)
            bench.blueZ.faults.unanswered = ["ReadValue"]
            for _ in 1...2 {
                bench.clear()
                try await bench.subscribe()
                #expect(bench.calls.count { $0.hasPrefix("ReadValue") } == 1)
                try await bench.disconnect()
            }
        }
    }

    @Test("is not made with a device that does not require it, which is read once")
    func noneWanted() async throws {
        try await onLoop {
            var options = TagOptions()
            options.allowsReading = true
            let bench = try await CentralBench(tagOptions: options)
            for _ in 1...2 {
                bench.central.perform(.disconnect(CentralBench.address(1)))
                try await until("no link") { bench.central.links.peripherals.isEmpty }
                bench.clear()
                try await bench.subscribe()
            }
            #expect(!bench.calls.contains { $0.hasPrefix("ReadValue") || $0.hasPrefix("Pair ") })
        }
    }

    @Test("sets Trusted, so that the device may reconnect by itself")
    func trusted() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.pair()
            #expect(bench.blueZ.isTrusted(bench.tags[0].address))
        }
    }
}
