import Bluetooth
import DBus
import EventLoop
import FakeBlueZ
import JacquardProtocol
import Logging
import TestSupport
import Testing
import Time

@testable import BlueZ
@testable import Simulator

@Suite("Notifications")
struct NotificationTests {
    /// Options for either way.
    private static func options(byDescriptor: Bool) -> BlueZOptions {
        var options = BlueZOptions.quick
        options.allowsAcquireNotify = byDescriptor
        return options
    }

    @Test("are delivered once each, in order, also after a reconnection", arguments: [true, false])
    func order(byDescriptor: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench(Self.options(byDescriptor: byDescriptor))
            for _ in 0..<3 {
                bench.clear()
                try await bench.subscribe()
                try bench.notify(count: 100)
                try await until("100 values, not \(bench.values.count)") { bench.values.count >= 100 }
                try await bench.settle()
                #expect(bench.values == (0..<100).map { [UInt8($0)] })
                try await bench.disconnect()
            }
            #expect(bench.calls.contains { $0.hasPrefix("StartNotify") } == !byDescriptor)
        }
    }

    @Test("that were sent before the link broke are delivered before its end", arguments: [true, false])
    func lastWords(byDescriptor: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench(Self.options(byDescriptor: byDescriptor))
            var counts: [Int] = []
            bench.onEvent = { [unowned bench] event in
                if case .disconnected = event { counts.append(bench.values.count) }
            }
            for round in 1...5 {
                bench.clear()
                try await bench.subscribe()
                try bench.notify(count: 20)
                bench.tags[0].link?.drop()
                try await until("end \(round)") { counts.count == round }
                try await bench.wait("disconnected 1 connectionFailed")
            }
            #expect(counts == [20, 20, 20, 20, 20])
        }
    }

    @Test("are enabled once for simultaneous requests, and each request is answered")
    func together() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            for _ in 0..<2 { bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1))) }
            try await bench.wait("subscribed 1", 2)
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribed 1", 3)
            #expect(bench.calls.count { $0.hasPrefix("AcquireNotify") } == 1)
        }
    }

    @Test(
        "report the MTU of the link once, before they are enabled",
        arguments: [(23, true), (23, false), (247, true), (247, false)])
    func mtu(mtu: Int, byDescriptor: Bool) async throws {
        try await onLoop {
            var options = Self.options(byDescriptor: byDescriptor)
            options.mtu = UInt16(mtu)
            let bench = try await CentralBench(options)
            try await bench.connect()
            try await bench.discover()
            for channel in TagCharacteristic.notifying {
                bench.central.perform(.subscribe(channel.bluetooth, of: CentralBench.address(1)))
            }
            try await bench.wait("subscribed 1", TagCharacteristic.notifying.count)
            let events = bench.events.filter { $0.hasPrefix("mtu") || $0.hasPrefix("subscribed") }
            #expect(events == ["mtu 1: \(mtu)"] + TagCharacteristic.notifying.map { _ in "subscribed 1" })
        }
    }

    @Test("are delivered on a link without a reported MTU, as with BlueZ before 5.62")
    func unknownMTU() async throws {
        try await onLoop {
            let bench = try await CentralBench(Self.options(byDescriptor: false))
            bench.blueZ.faults.refused["Get"] = ("org.freedesktop.DBus.Error.InvalidArgs", "No such property 'MTU'")
            try await bench.subscribe()
            #expect(!bench.events.contains { $0.hasPrefix("mtu") })
        }
    }

    @Test("are delivered by signals if another client uses signals")
    func foreignSession() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            let path = try #require(bench.notifyPath)
            let other = try await bench.otherConnection()
            _ = try await other.call(.call(to: "org.bluez", path, "org.bluez.GattCharacteristic1", "StartNotify"))
            bench.clear()
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribed 1")
            let members = bench.calls.map { $0.prefix { $0 != " " } }
            #expect(
                members == [
                    "AcquireNotify", "StopNotify", "AcquireNotify", "StopNotify", "StartNotify", "Get",
                ])
            try bench.notify(count: 1)
            try await until("the value") { bench.values == [[0]] }
        }
    }

    @Test("of another client stay with it, and so does the link")
    func foreignDescriptor() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            let elsewhere = try await bench.acquireElsewhere()
            bench.clear()
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribeFailed 1 inUse")
            try await bench.disconnect()
            try await bench.settle()
            #expect(!bench.calls.contains { $0.hasPrefix("StopNotify") || $0.hasPrefix("Disconnect") })
            withExtendedLifetime(elsewhere) {}
        }
    }

    @Test("that another client has released are free again")
    func givenBack() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            let path = try #require(bench.notifyPath)
            let peripheral = try #require(bench.central.links.peripherals[CentralBench.address(1)])
            var elsewhere: (DBusConnection, DBusMessage)? = try await bench.acquireElsewhere()
            try await until("BlueZ names a holder") { peripheral.subscriptions.acquired.contains(path) }
            withExtendedLifetime(elsewhere) {}
            elsewhere?.0.close()
            elsewhere = nil
            try await until("BlueZ names no holder") { !peripheral.subscriptions.acquired.contains(path) }
        }
    }

    @Test("are enabled although a pairing that BlueZ has begun never ends")
    func endlessPairing() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.bond = .milliseconds(50)
            let bench = try await CentralBench(timing: timing)
            try await bench.connect()
            try await bench.discover()
            bench.central.pairing.requirements.note(CentralBench.address(1), requiresBond: true)
            bench.blueZ.faults.refused["Pair"] = ("org.bluez.Error.InProgress", "In Progress")
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribed 1")
            #expect(bench.calls.contains("Pair 1"))
        }
    }

    @Test(
        "that are enabled are no pending request: a later pairing does not end the link, nor a read without an answer",
        arguments: [false, true])
    func granted(isReadable: Bool) async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.afterBond = .milliseconds(20)
            timing.probe = .milliseconds(50)
            timing.bond = .seconds(3_600)
            var options = TagOptions()
            options.allowsReading = isReadable
            let bench = try await CentralBench(timing: timing, tagOptions: options)
            bench.blueZ.faults.unanswered = ["ReadValue"]
            try await bench.subscribe()
            try await bench.pair()
            // On the same loop, a later deadline is reached after an earlier one.
            var isLater = false
            let timer = LoopTimer { isLater = true }
            timer.arm(after: timing.afterBond * 3)
            try await until("the limit has passed") { isLater }
            #expect(!bench.events.contains { $0.hasPrefix("disconnected") })
            withExtendedLifetime(timer) {}
        }
    }

    @Test("that are requested before BlueZ has answered Connect begin when it has")
    func beforeConnectIsAnswered() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.answersConnectWhenResolved = true
            let bench = try await CentralBench(options)
            bench.onEvent = { [unowned bench] event in
                switch event {
                case .connected(let address):
                    let characteristics = TagCharacteristic.allCases.map(\.bluetooth)
                    bench.central.perform(
                        .discover(CentralBench.service, characteristics: characteristics, of: address))
                case .characteristicsDiscovered(let address, _):
                    #expect(bench.central.links.attempt != nil)
                    bench.central.perform(.subscribe(CentralBench.notify, of: address))
                default: break
                }
            }
            try await bench.connect()
            try await bench.wait("subscribed 1")
        }
    }

    @Test("that BlueZ has not acquired yet are noted one by one")
    func acquiring() {
        var subscriptions = Subscriptions()
        subscriptions.acquiring = ["response", "notify"]
        subscriptions.endAcquiring("response")
        #expect(subscriptions.acquiring == ["notify"])
        subscriptions.states = [CentralBench.notify: .beginning(requests: 1), CentralBench.service: .bySignal]
        #expect(subscriptions.pendingCount == 1)
    }

    @Test("that were closed are replaced nine times within a minute")
    func replacements() {
        var subscriptions = Subscriptions()
        let start = Instant(sinceBoot: .seconds(3_600))
        var isReplaced = (1...10).map { _ in subscriptions.mayReplace(at: start) }
        #expect(isReplaced == Array(repeating: true, count: 9) + [false])
        isReplaced = [59, 60].map { subscriptions.mayReplace(at: start + .seconds($0)) }
        #expect(isReplaced == [false, true])
    }

    @Test("that bluetoothd keeps for a client that no longer exists are detected")
    func stuck() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            for member in ["AcquireNotify", "StartNotify"] {
                bench.blueZ.faults.refused[member] = ("org.bluez.Error.NotPermitted", "Notify acquired")
            }
            for attempt in 1...2 {
                bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
                try await bench.wait("subscribeFailed 1 subscriptionStuck", attempt)
            }
            #expect(!bench.calls.contains { $0.hasPrefix("StopNotify") })
            #expect(bench.complaints.contains { $0.hasSuffix("restart bluetoothd") })
        }
    }

    @Test("that were requested but not answered before the end of a link can be requested on the next one")
    func unansweredAcquisition() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            bench.central.pairing.requirements.note(CentralBench.address(1), requiresBond: false)
            // The link ends before the device confirms.
            bench.onCall = { [unowned bench] in
                if $0.hasPrefix("AcquireNotify") { bench.tags[0].setInRange(false) }
            }
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("disconnected 1 connectionFailed")
            bench.onCall = nil
            bench.clear()
            bench.tags[0].setInRange(true)
            try await bench.subscribe()
            let members = bench.calls.map { $0.prefix { $0 != " " } }
            #expect(members.filter { $0.hasSuffix("Notify") } == ["StopNotify", "AcquireNotify"])
        }
    }

    @Test("that were requested and not answered are cancelled on the same link")
    func neverAnswered() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.acquire = .milliseconds(80)
            let bench = try await CentralBench(timing: timing)
            try await bench.connect()
            try await bench.discover()
            bench.blueZ.faults.unanswered = ["AcquireNotify"]
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribeFailed 1 timeout")
            #expect(bench.calls.last?.hasPrefix("StopNotify") == true)
            #expect(bench.central.links.peripherals[CentralBench.address(1)]?.subscriptions.acquiring == [])
        }
    }

    @Test("that could not be enabled can be requested again", arguments: [true, false])
    func failure(byDescriptor: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench(Self.options(byDescriptor: byDescriptor))
            try await bench.connect()
            try await bench.discover()
            let member = byDescriptor ? "AcquireNotify" : "StartNotify"
            bench.blueZ.faults.refused[member] = ("org.bluez.Error.Failed", "Failed to subscribe")
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribeFailed 1 connectionFailed")
            bench.blueZ.faults.refused = [:]
            bench.central.perform(.subscribe(CentralBench.notify, of: CentralBench.address(1)))
            try await bench.wait("subscribed 1")
        }
    }

    @Test("that another client has stopped begin again on the same link, and values arrive once")
    func stoppedElsewhere() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            let (path, link) = (try #require(bench.notifyPath), try #require(bench.tags[0].link))
            let other = try await bench.otherConnection()
            for round in 1...Subscriptions.mostReplacements {
                _ = try await other.call(.call(to: "org.bluez", path, "org.bluez.GattCharacteristic1", "StopNotify"))
                try await bench.waitForCall("AcquireNotify 1 \(path.split(separator: "/").last ?? "")", round + 1)
                try await until("the subscription") {
                    bench.central.links[CentralBench.address(1)]?.subscriptions.channels.count == 1
                }
            }
            try await until("no end of the link is expected") {
                bench.central.links[CentralBench.address(1)]?.linkEndTimer?.isArmed == false
            }
            try bench.notify(count: 3)
            try await until("the values") { bench.values.count >= 3 }
            try await bench.settle()
            #expect(bench.values == [[0], [1], [2]])
            #expect(bench.tags[0].link === link)
            #expect(bench.events.count { $0 == "subscribed 1" } == 1)
            #expect(bench.complaints == [])
            // Not for ever.
            _ = try await other.call(.call(to: "org.bluez", path, "org.bluez.GattCharacteristic1", "StopNotify"))
            try await bench.wait("disconnected 1 connectionFailed")
        }
    }

    @Test("that another client has taken over leave the link to it")
    func takenOver() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            let path = try #require(bench.notifyPath)
            let other = try await bench.otherConnection()
            _ = try await other.call(.call(to: "org.bluez", path, "org.bluez.GattCharacteristic1", "StopNotify"))
            let descriptor = try await other.call(
                .call(to: "org.bluez", path, "org.bluez.GattCharacteristic1", "AcquireNotify", [.properties([])]))
            try await bench.wait("disconnected 1 inUse")
            #expect(bench.tags[0].link != nil)
            #expect(!bench.calls.contains("Disconnect 1"))
            withExtendedLifetime(descriptor) {}
        }
    }

    @Test("that BlueZ has ended on an open link, and does not begin again, end the link")
    func closed() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            bench.blueZ.faults.refused["AcquireNotify"] = ("org.bluez.Error.Failed", "Not connected")
            bench.blueZ.closeDescriptors()
            try await bench.wait("disconnected 1 connectionFailed")
            #expect(bench.complaints == ["BlueZ has ended the notifications of a connected device"])
            try await bench.waitForCall("Disconnect 1")
        }
    }

    @Test("that BlueZ has ended, and of which only some begin again, end the link")
    func partlyClosed() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            bench.central.perform(.subscribe(TagCharacteristic.response.bluetooth, of: CentralBench.address(1)))
            try await bench.wait("subscribed 1", 2)
            var isFirst = true
            bench.onCall = { [unowned bench] in
                guard $0.hasPrefix("AcquireNotify") else { return }
                bench.blueZ.faults.refused["AcquireNotify"] =
                    isFirst ? ("org.bluez.Error.Failed", "Not connected") : nil
                isFirst = false
            }
            bench.blueZ.closeDescriptors()
            try await bench.wait("disconnected 1 connectionFailed")
            #expect(!isFirst && bench.blueZ.faults.refused.isEmpty, "the second one begins")
        }
    }

    @Test("that BlueZ has ended so often that one of two does not begin again, end the link")
    func partlyClosedTooOften() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            bench.central.perform(.subscribe(TagCharacteristic.response.bluetooth, of: CentralBench.address(1)))
            try await bench.wait("subscribed 1", 2)
            for round in 1...4 {
                bench.blueZ.closeDescriptors()
                try await until("both again") {
                    bench.calls.count { $0.hasPrefix("AcquireNotify") } == 2 + 2 * round
                        && bench.central.links.peripherals[CentralBench.address(1)]?.subscriptions.channels.count == 2
                }
            }
            bench.blueZ.closeDescriptors()
            try await bench.wait("disconnected 1 connectionFailed")
        }
    }

    @Test(
        "use signals or fail, depending on the error of AcquireNotify",
        arguments: [
            ("org.bluez.Error.NotSupported", .never), ("org.freedesktop.DBus.Error.UnknownMethod", .never),
            ("org.freedesktop.DBus.Error.NotSupported", .never), ("org.bluez.Error.InProgress", .sessionLeft),
            ("org.bluez.Error.Failed", nil),
        ] as [(String, Subscription.Refusal?)])
    func refusals(name: String, refusal: Subscription.Refusal?) {
        #expect(Subscription.Refusal(DBusError(.refused, name: name, text: "")) == refusal)
    }
}

extension CentralBench {
    /// Lets the first tag notify values that count from 0.
    func notify(count: Int) throws {
        let link = try #require(tags[0].link)
        for number in 0..<count {
            _ = link.notify([UInt8(number)], on: TagCharacteristic.notify.uuid)
        }
    }
}
