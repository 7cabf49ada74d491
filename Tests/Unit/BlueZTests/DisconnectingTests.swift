import Bluetooth
import DBus
import EventLoop
import FakeBlueZ
import Logging
import TestSupport
import Testing

@testable import BlueZ
@testable import Simulator

@Suite("Disconnecting")
struct DisconnectingTests {
    @Test("a device without a connection reports it in a later turn, without an error")
    func waiting() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.central.perform(.connect(CentralBench.address(1)))
            for _ in 1...2 { bench.central.perform(.disconnect(CentralBench.address(1))) }
            #expect(!bench.events.contains("disconnected 1"))
            try await bench.wait("disconnected 1")
            bench.scan()
            try await until("the tag is heard") { bench.heard[CentralBench.address(1)] != nil }
            #expect(!bench.calls.contains("Connect 1"))
            #expect(bench.events.count { $0 == "disconnected 1" } == 1)
        }
    }

    @Test("during a connection attempt cancels the attempt and starts the next one")
    func attempt() async throws {
        try await onLoop {
            let bench = try await CentralBench(.patient)
            try await bench.attempt()
            try await bench.disconnect()
            #expect(!bench.events.contains("connected 1"))
            bench.central.perform(.connect(CentralBench.address(2)))
            try await bench.wait("connected 2")
        }
    }

    @Test("answers a connect request that arrives while the link is closing")
    func meanwhile() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            bench.central.perform(.disconnect(CentralBench.address(1)))
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("disconnected 1")
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1", 2)
        }
    }

    @Test("is reported as a loss when the device disappears, whatever BlueZ reported before", arguments: [false, true])
    func loss(isRemoved: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            if isRemoved { bench.blueZ.removeDevices() } else { bench.tags[0].setInRange(false) }
            let end = "disconnected 1 " + (isRemoved ? "notFound" : "connectionFailed")
            try await bench.wait(end)
            try await bench.settle()
            #expect(bench.events.count { $0.hasPrefix("disconnected") } == 1)
            #expect(bench.events.last == end || bench.events.last == "scanning true")
        }
    }

    @Test("ends all pending operations, and no event follows it")
    func underWay() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            bench.blueZ.faults.unanswered = ["WriteValue", "AcquireNotify", "Pair"]
            bench.write([1], .withResponse)
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            bench.central.perform(.pair(CentralBench.address(1)))
            bench.central.perform(
                .discover(CentralBench.notify, characteristics: [], of: CentralBench.address(1)))
            try await bench.disconnect()
            let count = bench.events.count
            bench.blueZ.faults.unanswered = []
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1", 2)
            try await bench.settle()
            #expect(bench.events[count...].filter { $0.hasSuffix("1") } == ["connected 1"])
        }
    }

    @Test("at shutdown closes the links within the time limit, and does nothing else", arguments: [false, true])
    func stop(hangs: Bool) async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.call = .seconds(60)
            let bench = try await CentralBench(timing: timing)
            try await bench.connect()
            if hangs { bench.blueZ.faults.unanswered = ["Disconnect"] }
            bench.onCall = { [unowned bench] in
                if $0 == "Disconnect 1" { bench.central.perform(.forget(CentralBench.address(1))) }
            }
            let watch = Stopwatch()
            // Without an answer that does not come, the end is that of the last link and not the limit.
            await bench.central.stop(within: hangs ? .milliseconds(500) : .seconds(3_600))
            // Without a limit of its own it would end with that of the call.
            #expect(watch.isWithin(timing.call))
            #expect(bench.members.last == "Disconnect")
            if !hangs { try await until("the tag is free") { bench.tags[0].broadcast != nil } }
            bench.central.perform(.connect(CentralBench.address(2)))
            await bench.central.stop()
        }
    }

    @Test("at shutdown stops notifications first: bluetoothd crashes when a client leaves the bus with a descriptor")
    func stopWithDescriptors() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            var isOn = true
            bench.tags[0].onEvent = { if case .subscribed(_, let on) = $0.kind { isOn = on } }
            // The link stays up: only the central can end the notifications.
            bench.blueZ.faults.unanswered = ["Disconnect"]
            await bench.central.stop(within: .milliseconds(100))
            try await until("notifications are off") { !isOn }
            // The bus keeps the order of calls, but not that of a call and the end of a descriptor.
            #expect(bench.members.suffix(2) == ["StopNotify", "Disconnect"])
        }
    }

    @Test("at shutdown delivers first what BlueZ has passed on")
    func stopWithValues() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            try bench.notify(count: 20)
            bench.central.deliverReceived()
            #expect(bench.values == (0..<20).map { [$0] })
            await bench.central.stop()
        }
    }

    @Test(
        "at shutdown writes nothing more, whatever is answered then",
        arguments: [WriteType.withResponse, .withoutResponse])
    func stopWhileWriting(type: WriteType) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            bench.blueZ.faults.unanswered = ["Disconnect"]
            bench.blueZ.faults.refused["WriteValue"] = ("org.bluez.Error.InProgress", "In Progress")
            bench.write([1], type)
            // Longer than the pause before a write is repeated.
            await bench.central.stop(within: .milliseconds(200))
            #expect(
                bench.members.suffix(3) == [
                    type == .withResponse ? "WriteValue" : "AcquireWrite", "StopNotify", "Disconnect",
                ])
        }
    }

    @Test("at shutdown cancels a subscription that bluetoothd has not answered")
    func stopWhileSubscribing() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            bench.blueZ.faults.unanswered = ["AcquireNotify"]
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await until("the call") { bench.calls.contains { $0.hasPrefix("AcquireNotify") } }
            await bench.central.stop()
            #expect(bench.members.suffix(3) == ["AcquireNotify", "StopNotify", "Disconnect"])
        }
    }

    @Test("at shutdown keeps a link that another client uses")
    func stopShared() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            let elsewhere = try await bench.acquireElsewhere()
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribeFailed 1 inUse")
            await bench.central.stop()
            #expect(!bench.calls.contains { $0.hasPrefix("Disconnect") })
            withExtendedLifetime(elsewhere) {}
        }
    }

    @Test("at shutdown makes no call for a device that was never connected")
    func stopWhileWaiting() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.scan()
            try await until("both are known") { bench.heard.count == 2 }
            bench.scan(false)
            for tag in bench.tags { tag.setInRange(false) }
            bench.central.perform(.connect(CentralBench.address(1)))
            await bench.central.stop()
            #expect(!bench.calls.contains { $0.hasPrefix("Disconnect") || $0.hasPrefix("Connect") })
        }
    }

    @Test("completes when BlueZ removes the device's object before it answers")
    func removedMeanwhile() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.call = .seconds(3_600)
            let bench = try await CentralBench(timing: timing)
            try await bench.connect()
            bench.blueZ.faults.unanswered = ["Disconnect"]
            bench.central.perform(.disconnect(CentralBench.address(1)))
            try await bench.waitForCall("Disconnect 1")
            bench.blueZ.removeDevices()
            try await bench.wait("disconnected 1")
        }
    }

    @Test("after the services were resolved does not count as a lost bond, however short the link was")
    func resolvedLink() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.pair()
            try await bench.discover()
            bench.blueZ.faults.resolvesNothing = true
            bench.onEvent = { [unowned bench] in if case .connected = $0 { bench.tags[0].link?.drop() } }
            bench.tags[0].link?.drop()
            try await bench.wait("disconnected 1 connectionFailed")
            for round in 1...BondWatch.enough {
                bench.central.perform(.connect(CentralBench.address(1)))
                guard round == BondWatch.enough else {
                    try await bench.wait("disconnected 1 connectionFailed", round + 1)
                    continue
                }
                try await bench.wait("disconnected 1 authenticationFailed")
            }
        }
    }

    @Test("on request does not count as a lost bond, however short the links are")
    func briefLinks() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            // Long enough for a link to end before its services are resolved.
            options.serviceDiscovery = .milliseconds(200)
            let bench = try await CentralBench(options)
            try await bench.connect()
            try await bench.pair()
            for count in 1...BondWatch.enough {
                bench.central.perform(.disconnect(CentralBench.address(1)))
                try await bench.wait("disconnected 1", count)
                bench.central.perform(.connect(CentralBench.address(1)))
                try await bench.wait("connected 1", count + 1)
            }
            bench.tags[0].setInRange(false)
            try await bench.wait("disconnected 1 connectionFailed")
        }
    }
}
