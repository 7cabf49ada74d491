import Bluetooth
import EventLoop
import FakeBlueZ
import Simulator
import TestSupport
import Testing

@testable import BlueZ

@Suite("Writing")
struct WritingTests {
    @Test("is confirmed or accepted", arguments: [WriteType.withResponse, .withoutResponse])
    func written(type: WriteType) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            bench.write([0xC0, 0x00], type)
            try await bench.wait("written 1")
        }
    }

    @Test("with response fails if the characteristic does not permit it, and works without response")
    func notPermitted() async throws {
        try await onLoop {
            var tagOptions = TagOptions()
            tagOptions.allowsWriteWithoutResponseOnly = true
            let bench = try await CentralBench(tagOptions: tagOptions)
            try await bench.connect()
            try await bench.discover()
            bench.write([0xC0, 0x00], .withResponse)
            try await bench.wait("writeFailed 1 notPermitted")
            bench.write([0xC0, 0x00], .withoutResponse)
            try await bench.wait("written 1")
        }
    }

    @Test(
        "is retried while BlueZ is busy",
        arguments: [
            ("org.bluez.Error.InProgress", "In Progress"),
            ("org.freedesktop.DBus.Error.LimitsExceeded", "too many calls"),
            ("org.freedesktop.DBus.Error.NoMemory", "no memory"),
        ])
    func busy(error: String, text: String) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            bench.blueZ.faults.refused["WriteValue"] = (error, text)
            bench.onCall = { [unowned bench] _ in
                let attempts = bench.calls.count { $0.hasPrefix("WriteValue") }
                if attempts == 4 { bench.blueZ.faults.refused = [:] }
            }
            bench.write([1], .withResponse)
            try await bench.wait("written 1")
            #expect(bench.calls.count { $0.hasPrefix("WriteValue") } == 4)
            #expect(!bench.events.contains { $0.hasPrefix("writeFailed") })
        }
    }

    @Test("fails as busy if BlueZ stays busy, and the link stays up")
    func busyForLong() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.busy = .milliseconds(60)
            let bench = try await CentralBench(timing: timing)
            try await bench.connect()
            try await bench.discover()
            bench.blueZ.faults.refused["WriteValue"] = ("org.bluez.Error.InProgress", "In Progress")
            bench.write([1], .withResponse)
            try await bench.wait("writeFailed 1 busy")
            bench.blueZ.faults.refused = [:]
            bench.write([1], .withResponse)
            try await bench.wait("written 1")
        }
    }

    @Test("is not repeated on another link")
    func busyUntilTheEnd() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            bench.blueZ.faults.refused["WriteValue"] = ("org.bluez.Error.InProgress", "In Progress")
            bench.write([1], .withResponse)
            try await until("a second attempt") { bench.calls.count { $0.hasPrefix("WriteValue") } > 1 }
            try await bench.disconnect()
            bench.clear()
            bench.blueZ.faults.refused = [:]
            try await bench.connect()
            try await bench.discover()
            bench.write([2], .withResponse)
            try await bench.wait("written 1")
            #expect(bench.calls.count { $0.hasPrefix("WriteValue") } == 1)
        }
    }

    @Test("fails after a time limit if it is never answered")
    func hanging() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            try await bench.discover()
            bench.ignoreNext("WriteValue")
            bench.write([1], .withResponse)
            try await bench.wait("writeFailed 1 timeout")
        }
    }
}
