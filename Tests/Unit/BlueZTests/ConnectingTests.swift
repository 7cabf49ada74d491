import Bluetooth
import DBus
import EventLoop
import FakeBlueZ
import Logging
import TestSupport
import Testing

@testable import BlueZ
@testable import Simulator

@Suite("Connecting")
struct ConnectingTests {
    @Test("is reported once, and so is the disconnection")
    func once() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            bench.central.perform(.connect(CentralBench.address(1)))
            bench.central.perform(.disconnect(CentralBench.address(1)))
            try await bench.disconnect()
            try await bench.settle()
            #expect(bench.events.filter { $0.hasSuffix("1") } == ["connected 1", "disconnected 1"])
        }
    }

    @Test("waits for a device that BlueZ does not know: it does not count as received")
    func unknown() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.central.perform(.connect(CentralBench.address(1)))
            var queue = bench.central.links.queue
            #expect(queue.next(at: .now) { _ in true } == nil)
            #expect(!queue.isEmpty)
        }
    }

    @Test("makes one attempt at a time and reaches all devices")
    func oneAtATime() async throws {
        try await onLoop {
            let bench = try await CentralBench(tags: 5)
            var open = 0
            var most = 0
            bench.onEvent = { if case .connected = $0 { open -= 1 } }
            bench.blueZ.onCall = { member, _ in
                guard member == "Connect" else { return }
                open += 1
                most = max(most, open)
            }
            bench.scan()
            for number in 1...5 { bench.central.perform(.connect(CentralBench.address(number))) }
            for number in 1...5 { try await bench.wait("connected \(number)") }
            #expect(most == 1)
        }
    }

    @Test("waits for a device that is not advertising, without reporting it")
    func waiting() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.tags[0].setInRange(false)
            bench.scan()
            bench.central.perform(.connect(CentralBench.address(1)))
            try await until("the other is heard") { bench.heard[CentralBench.address(2)] != nil }
            #expect(!bench.calls.contains("Connect 1"))
            bench.tags[0].setInRange(true)
            try await bench.wait("connected 1")
        }
    }

    @Test("keeps waiting when BlueZ removes a device that has not advertised for a long time")
    func forgottenMeanwhile() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.scan()
            try await until("the tag is heard") { bench.heard[CentralBench.address(1)] != nil }
            bench.scan(false)
            try await until("BlueZ forgets how strong it is") {
                bench.tree.devices.values.allSatisfy { !$0.isInRange }
            }
            bench.central.perform(.connect(CentralBench.address(1)))
            bench.blueZ.removeDevices()
            try await until("BlueZ has forgotten it") { bench.tree.devices.isEmpty }
            bench.scan()
            try await bench.wait("connected 1")
            #expect(!bench.events.contains { $0.hasPrefix("disconnected") })
        }
    }

    @Test("tries a known device that is not advertising, with pauses for scanning")
    func unheard() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.queue.unheard = .milliseconds(50)
            timing.queue.memory = .milliseconds(1)
            timing.queue.repetition = .seconds(60)
            var options = BlueZOptions.quick
            options.temporaryTimeout = .seconds(60)
            let bench = try await CentralBench(options, timing: timing)
            bench.scan()
            try await until("both are heard") { bench.heard.count == 2 }
            bench.scan(false)
            try await until("BlueZ forgets how strong they are") {
                bench.tree.devices.values.allSatisfy { !$0.isInRange }
            }
            for tag in bench.tags { tag.setInRange(false) }
            bench.central.perform(.connect(CentralBench.address(1)))
            bench.central.perform(.connect(CentralBench.address(2)))
            try await bench.wait("disconnected 1 timeout")
            try await bench.settle()
            #expect(bench.calls.count { $0.hasPrefix("Connect ") } == 1)
        }
    }

    @Test("ends an attempt that takes too long in BlueZ before the next one starts")
    func timeout() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.connect = .milliseconds(60)
            var options = BlueZOptions.quick
            options.linkSetup = .seconds(60)
            let bench = try await CentralBench(options, timing: timing)
            bench.scan()
            bench.central.perform(.connect(CentralBench.address(1)))
            bench.central.perform(.connect(CentralBench.address(2)))
            try await bench.wait("disconnected 1 timeout")
            try await bench.waitForCall("Connect 2")
            let steps = bench.calls.filter { $0.hasPrefix("Connect ") || $0.hasPrefix("Disconnect ") }
            #expect(Array(steps.prefix(3)) == ["Connect 1", "Disconnect 1", "Connect 2"])
        }
    }

    @Test("continues if BlueZ answers neither Connect nor the Disconnect after it")
    func neverAnswered() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.connect = .seconds(5)
            // The fake BlueZ does nothing for an ignored Connect, and would forget the device meanwhile.
            var options = BlueZOptions.quick
            options.temporaryTimeout = .seconds(3600)
            let bench = try await CentralBench(options, timing: timing)
            bench.scan()
            try await until("the tag is heard") { bench.heard[CentralBench.address(1)] != nil }
            bench.ignoreNext("Connect", "Disconnect")
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("disconnected 1 timeout")
            bench.central.perform(.connect(CentralBench.address(2)))
            try await bench.wait("connected 2")
            #expect(bench.calls.filter { $0.contains("onnect ") } == ["Connect 1", "Disconnect 1", "Connect 2"])
        }
    }

    @Test("fails with the error of BlueZ")
    func refused() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.blueZ.faults.refused["Connect"] = ("org.bluez.Error.Failed", "le-connection-abort-by-local")
            bench.scan()
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("disconnected 1 connectionFailed")
            bench.blueZ.faults.refused = [:]
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1")
        }
    }

    @Test("starts again immediately after the disconnection is reported", arguments: [false, true])
    func reentrancy(isLost: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            bench.onEvent = { [unowned bench] event in
                guard case .disconnected(let address, _) = event else { return }
                bench.central.perform(.connect(address))
            }
            if isLost {
                bench.tags[0].setInRange(false)
                try await bench.wait("disconnected 1 connectionFailed")
                bench.tags[0].setInRange(true)
            } else {
                try await bench.disconnect()
            }
            try await bench.wait("connected 1", 2)
        }
    }

    @Test("uses a link that already exists")
    func adoption() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            // As after `kill -9`: the link stays, and the tag does not advertise.
            let next = BlueZCentral(
                busAddress: bench.bus.address, adapter: .automatic, resetAdapter: false, timing: .quick,
                log: bench.central.context.log)
            var seen: [CentralEvent] = []
            next.onEvent = { [unowned next] event in
                seen.append(event)
                if event == .stateChanged(.poweredOn) { next.perform(.scan(CentralBench.service)) }
                if case .discovered(let address, _) = event, address == CentralBench.address(1) {
                    next.perform(.connect(address))
                }
            }
            await next.start()
            try await until("the link is adopted") { seen.contains(.connected(CentralBench.address(1))) }
        }
    }

    @Test("does not use a link of another client until that client releases it")
    func inUse() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            let other = try await bench.otherCentral()
            bench.scan()
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("disconnected 1 inUse")
            try await bench.settle()
            #expect(!bench.calls.contains("Disconnect 1"))
            #expect(bench.tags[0].link != nil)
            await other.stop()
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1")
        }
    }

    @Test("replaces a link without a client twice, then uses it as it is")
    func foreignLinks() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            let other = try await bench.otherConnection()
            bench.scan()
            try await until("the tag is heard") { bench.heard[CentralBench.address(1)] != nil }
            let path = try #require(bench.central.context.device(CentralBench.address(1))?.path)
            for round in 1...4 {
                try await bench.connectElsewhere(other, path)
                bench.clear()
                try await bench.subscribe()
                #expect(bench.calls.contains("Disconnect 1") == (round <= ForeignLinks.most))
                try bench.notify(count: 1)
                try await until("the value") { bench.values == [[0]] }
                try await bench.disconnect()
            }
        }
    }

    @Test("does not use a link whose notifications another client receives by signals", arguments: [1, 2])
    func usedBySignals(attempts: Int) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            // The central has ended a session of its own.
            bench.blueZ.faults.refused["AcquireNotify"] = ("org.bluez.Error.NotSupported", "Operation is not supported")
            try await bench.subscribe()
            bench.blueZ.faults.refused = [:]
            try await bench.disconnect()
            bench.clear()
            try await bench.subscribe()
            let notify = try #require(bench.notifyPath)
            try await bench.disconnect()
            let other = try await bench.otherConnection()
            let path = try #require(bench.central.context.device(CentralBench.address(1))?.path)
            try await bench.connectElsewhere(other, path)
            _ = try await other.call(.call(to: "org.bluez", notify, "org.bluez.GattCharacteristic1", "StartNotify"))
            try await until("the client is seen") { bench.tree.hasClient(below: path) }
            bench.clear()
            for attempt in 1...attempts {
                bench.central.perform(.connect(CentralBench.address(1)))
                try await bench.wait("disconnected 1 inUse", attempt)
            }
            #expect(!bench.calls.contains { $0.contains("onnect ") })
            // Its client leaves the bus: nobody uses the link any more.
            other.close()
            try await until("the client has gone") { !bench.tree.hasClient(below: path) }
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1")
        }
    }

    @Test("does not take its own session on an earlier link for another client's")
    func ownSession() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.allowsAcquireNotify = false
            let bench = try await CentralBench(options)
            let other = try await bench.otherConnection()
            try await bench.subscribe()
            let path = try #require(bench.central.context.device(CentralBench.address(1))?.path)
            try await bench.disconnect()
            // BlueZ keeps the session, and the device comes back by itself.
            #expect(bench.tree.hasClient(below: path))
            try await bench.connectElsewhere(other, path)
            try await bench.subscribe()
            #expect(!bench.events.contains("disconnected 1 inUse"))
        }
    }

    @Test("cancels a long attempt if another device waits")
    func contended() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.connectContended = .milliseconds(60)
            let bench = try await CentralBench(.patient, timing: timing)
            bench.scan()
            try await until("both are heard") { bench.heard.count == 2 }
            bench.onCall = { [unowned bench] in if $0 == "Connect 1" { bench.tags[0].setInRange(false) } }
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.waitForCall("Connect 1")
            bench.central.perform(.connect(CentralBench.address(2)))
            try await bench.wait("connected 2")
            #expect(bench.events.contains("disconnected 1 timeout"))
        }
    }

    @Test("leaves no timer once all devices are connected and discovery has stopped")
    func quiet() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.connectContended = .seconds(600)
            timing.silence = .seconds(600)
            let bench = try await CentralBench(timing: timing)
            bench.scan()
            try await until("both are heard") { bench.heard.count == 2 }
            bench.central.perform(.connect(CentralBench.address(1)))
            bench.central.perform(.connect(CentralBench.address(2)))
            try await bench.wait("connected 1")
            try await bench.wait("connected 2")
            bench.scan(false)
            let central = bench.central
            try await until("discovery stops") {
                central.discovery.session.running == nil && !central.discovery.watchTimer.isArmed
            }
            // A link is reported before the attempt has ended.
            try await until("no timer is left") {
                !central.links.connectTimer.isArmed && !central.links.contentionTimer.isArmed
            }
        }
    }

    @Test("does not cancel a long attempt if no other device waits")
    func uncontended() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.connectContended = .zero
            let bench = try await CentralBench(.patient, timing: timing)
            try await bench.attempt()
            try await bench.settle()
            #expect(!bench.calls.contains("Disconnect 1"))
            bench.tags[0].setInRange(true)
            try await bench.wait("connected 1")
        }
    }
}
