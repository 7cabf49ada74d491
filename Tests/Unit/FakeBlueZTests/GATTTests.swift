import DBus
import EventLoop
import FakeBlueZ
import Glibc
import JacquardProtocol
import Simulator
import TagFirmware
import TestSupport
import Testing

@Suite("Fake BlueZ: characteristics")
struct GATTTests {
    @Test("returns a descriptor that receives responses and gestures")
    func acquire() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            let response = try AcquiredDescriptor(
                try await bench.characteristic(.response, "AcquireNotify", .properties([])))
            #expect(response.mtu == 247)
            #expect(bench.signals.last == "char000d NotifyAcquired=true")
            try await bench.write(.begin())
            var values: [[UInt8]] = []
            try await until("an answer") {
                values += response.values() ?? []
                return !values.isEmpty
            }
            #expect(values == [[0xC0, 0x09, 0x08, 0x01, 0x10, 0x00, 0x18, 0x00, 0xAA, 0x06, 0x00]])
        }
    }

    @Test("closes the descriptor with the link")
    func closed() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            let descriptor = try AcquiredDescriptor(
                try await bench.characteristic(.notify, "AcquireNotify", .properties([])))
            bench.forget()
            try await bench.device("Disconnect")
            #expect(descriptor.values() == nil)
            #expect(
                bench.signals == [
                    "char0010 NotifyAcquired=false", "dev_F0_00_00_00_00_01 Connected=false ServicesResolved=false",
                ])
        }
    }

    @Test("ends the subscription when the client closes its descriptor")
    func released() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            _ = try AcquiredDescriptor(try await bench.characteristic(.notify, "AcquireNotify", .properties([])))
            try await bench.wait("char0010 NotifyAcquired=false")
            // The device is told a moment later.
            try await until("the end of the subscription") {
                do {
                    try bench.tags[0].execute(.play(Burst(.gesture(.doubleTap))))
                    return false
                } catch is FirmwareError {
                    return true
                }
            }
        }
    }

    @Test("refuses a second acquisition, and what cannot be acquired")
    func acquireErrors() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            let options: DBusValue = .properties([])
            let held = try AcquiredDescriptor(try await bench.characteristic(.notify, "AcquireNotify", options))
            let expected: [(TagCharacteristic, String, String)] = [
                (.notify, "AcquireNotify", "org.bluez.Error.NotPermitted: Notify acquired"),
                (.command, "AcquireNotify", "org.bluez.Error.NotSupported: Operation is not supported"),
                (.notify, "AcquireWrite", "org.bluez.Error.NotSupported: Operation is not supported"),
                (.command, "ReadValue", "org.bluez.Error.NotPermitted: Read not permitted"),
            ]
            for (channel, member, error) in expected {
                #expect(await bench.failure { try await bench.characteristic(channel, member, options) } == error)
            }
            #expect(
                await bench.failure { try await bench.characteristic(.notify, "StartNotify") }
                    == "org.bluez.Error.NotPermitted: Notify acquired")
            try await bench.characteristic(.response, "StartNotify")
            #expect(
                await bench.failure { try await bench.characteristic(.response, "AcquireNotify", options) }
                    == "org.bluez.Error.InProgress: In Progress")
            #expect(held.values() == [])
            try await bench.device("Disconnect")
            #expect(
                await bench.failure { try await bench.characteristic(.notify, "AcquireNotify", options) }
                    == "org.bluez.Error.Failed: Not connected")
        }
    }

    @Test("takes values by a descriptor, refuses calls meanwhile, and closes it with the link")
    func acquireWrite() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            let response = try AcquiredDescriptor(
                try await bench.characteristic(.response, "AcquireNotify", .properties([])))
            let acquire = { try await bench.characteristic(.command, "AcquireWrite", .properties([])) }
            var writer: AcquiredDescriptor? = try AcquiredDescriptor(try await acquire())
            #expect(writer?.mtu == 247)
            try await bench.wait("char000b WriteAcquired=true")
            for fragment in try Fragmenter.fragments(of: Request.begin().encoded(id: 1)) {
                #expect(send(try #require(writer).number, fragment, fragment.count, 0) == fragment.count)
            }
            var values: [[UInt8]] = []
            try await until("an answer") {
                values += response.values() ?? []
                return !values.isEmpty
            }
            #expect(values == [[0xC0, 0x09, 0x08, 0x01, 0x10, 0x00, 0x18, 0x00, 0xAA, 0x06, 0x00]])
            for type in ["request", "command"] {
                #expect(
                    await bench.failure { try await bench.write([1], type: type) }
                        == "org.bluez.Error.NotPermitted: Write acquired")
            }
            #expect(await bench.failure { try await acquire() } == "org.bluez.Error.NotPermitted: Write acquired")
            writer = nil
            try await bench.wait("char000b WriteAcquired=false")
            try await bench.write([1], type: "command")
            let later = try AcquiredDescriptor(try await acquire())
            try await bench.device("Disconnect")
            #expect(later.values() == nil)
        }
    }

    @Test("refuses a descriptor for writes if that is not offered")
    func acquireWriteNotOffered() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.allowsAcquireWrite = false
            let bench = try await BlueZBench(options)
            try await bench.connect()
            #expect(
                await bench.failure { try await bench.characteristic(.command, "AcquireWrite", .properties([])) }
                    == "org.bluez.Error.NotSupported: Operation is not supported")
        }
    }

    @Test("uses signals if acquiring is not offered")
    func signals() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.allowsAcquireNotify = false
            let bench = try await BlueZBench(options)
            try await bench.connect()
            #expect(
                await bench.failure { try await bench.characteristic(.notify, "AcquireNotify", .properties([])) }
                    == "org.bluez.Error.NotSupported: Operation is not supported")
            bench.forget()
            try await bench.characteristic(.notify, "StartNotify")
            #expect(bench.signals == ["char0010 Notifying=true"])
            bench.forget()
            for _ in 0..<2 { try bench.tags[0].execute(.attach(try #require(SimulatedGear(word: "patch-a0")))) }
            try bench.tags[0].execute(.play(Burst(.gesture(.brushIn))))
            try await until("the gesture") { bench.signals.count == 1 }
            #expect(bench.signals[0].hasPrefix("char0010 Value=[192, "))
            try await bench.characteristic(.notify, "StopNotify")
            #expect(bench.signals.last == "char0010 Notifying=false")
            #expect(
                await bench.failure { try await bench.characteristic(.notify, "StopNotify") }
                    == "org.bluez.Error.Failed: No notify session started")
        }
    }

    @Test("keeps a session across a reconnection, and reports values twice if it is started again")
    func survivingSession() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            try await bench.characteristic(.notify, "StartNotify")
            try await bench.device("Disconnect")
            try await bench.reconnect()
            try await until("the subscription") {
                (try? bench.tags[0].execute(.play(Burst(.gesture(.brushIn))))) != nil
            }
            try await until("one value") { bench.signals.filter { $0.contains("Value=") }.count == 1 }
            try await bench.characteristic(.notify, "StartNotify")
            bench.forget()
            try bench.tags[0].execute(.play(Burst(.gesture(.brushIn))))
            try await until("two values") { bench.signals.filter { $0.contains("Value=") }.count == 2 }
        }
    }

    @Test("refuses writes with response to old firmware, and writes without a link")
    func writeErrors() async throws {
        try await onLoop {
            var tagOptions = TagOptions()
            tagOptions.allowsWriteWithoutResponseOnly = true
            let bench = try await BlueZBench(tagOptions: tagOptions)
            try await bench.connect()
            let command = try await bench.properties(of: BlueZBench.path(.command), "org.bluez.GattCharacteristic1")
            #expect(command["Flags"]?.textArray == ["write-without-response"])
            #expect(
                await bench.failure { try await bench.write([0], type: "request") }
                    == "org.bluez.Error.NotPermitted: Write not permitted")
            #expect(
                await bench.failure { try await bench.write([0], type: "magic") }
                    == "org.bluez.Error.NotSupported: Operation is not supported")
            #expect(try await bench.write([0], type: "command").isEmpty)
            try await bench.device("Disconnect")
            #expect(
                await bench.failure { try await bench.write([0], type: "command") }
                    == "org.bluez.Error.Failed: Not connected")
        }
    }

    @Test("refuses a second write while one waits, and both when the link breaks")
    func pendingWrite() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            bench.tags[0].setInRange(false)
            let first = bench.begin(
                "WriteValue", at: BlueZBench.path(.command), "org.bluez.GattCharacteristic1", .bytes([0]),
                .properties([("type", .string("request"))]))
            #expect(
                await bench.failure { try await bench.write([0], type: "request") }
                    == "org.bluez.Error.InProgress: In Progress")
            try await until("the link breaks") { first.text != nil }
            #expect(first.text == "org.bluez.Error.Failed: Operation failed with ATT error: 0x0e")
        }
    }

    @Test("slows a burst down so that a slow client loses nothing")
    func paced() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            try await bench.connect()
            let descriptor = try AcquiredDescriptor(
                try await bench.characteristic(.notify, "AcquireNotify", .properties([])))
            var events: [SimulatorEvent.Kind] = []
            bench.tags[0].onEvent = { events.append($0.kind) }
            try bench.tags[0].execute(.play(Burst(.cycle, count: 3000)))
            var count = 0
            try await until("all gestures") {
                count += descriptor.values()?.count ?? 0
                return count == 3000
            }
            #expect(events == [.burst(sent: 3000, dropped: 0)])
        }
    }

    @Test("drops and counts values for a full socket if losses are enabled")
    func lossy() async throws {
        try await onLoop {
            var tagOptions = TagOptions()
            tagOptions.isLossy = true
            let bench = try await BlueZBench(tagOptions: tagOptions)
            try await bench.connect()
            let descriptor = try AcquiredDescriptor(
                try await bench.characteristic(.notify, "AcquireNotify", .properties([])))
            var events: [SimulatorEvent.Kind] = []
            bench.tags[0].onEvent = { events.append($0.kind) }
            try bench.tags[0].execute(.play(Burst(.cycle, count: 3000)))
            try await until("the end of the burst") { !events.isEmpty }
            let received = descriptor.values()?.count ?? 0
            #expect(events == [.burst(sent: 3000, dropped: 3000 - received)])
            #expect(received < 3000)
        }
    }

    @Test("lists the same properties and methods as BlueZ' own library")
    func standardInterfaces() async throws {
        try await onLoop {
            let bench = try await BlueZBench()
            let path = BlueZBench.adapter
            #expect(
                await bench.failure { try await bench.call(path, "org.bluez.Adapter1", "Fly") }
                    == "org.freedesktop.DBus.Error.UnknownMethod: "
                    + "Method \"Fly\" with signature \"\" on interface \"org.bluez.Adapter1\" doesn't exist")
            #expect(
                await bench.failure { try await bench.call("/nowhere", "org.bluez.Adapter1", "Fly") }
                    == "org.freedesktop.DBus.Error.UnknownObject: No such object path '/nowhere'")
            let adapter = "org.bluez.Adapter1"
            #expect(
                await bench.failure { try await bench.set(path, adapter, "Address", .string("")) }
                    == "org.freedesktop.DBus.Error.PropertyReadOnly: Property 'Address' is not writable")
            #expect(
                await bench.failure { try await bench.set(path, adapter, "Powered", .string("yes")) }
                    == "org.freedesktop.DBus.Error.InvalidSignature: Invalid signature for 'Powered'")
            let xml = try await bench.call(path, "org.freedesktop.DBus.Introspectable", "Introspect").first?.text
            #expect(xml?.contains("<method name=\"StartDiscovery\"></method>") == true)
        }
    }
}
