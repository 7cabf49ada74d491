import Bluetooth
import DBus
import EventLoop
import FakeBlueZ
import JacquardProtocol
import Simulator
import TestSupport
import Testing

@testable import BlueZ

@Suite("Writing by descriptor")
struct WritingByDescriptorTests {
    @Test("reaches the device without a call for each value")
    func written() async throws {
        try await onLoop {
            let bench = try await CentralBench.thatWrites()
            for count in 1...3 {
                bench.write(try beginning(), .withoutResponse)
                try await bench.wait("written 1", count)
                try await until("a response") { bench.values.count == count }
            }
            #expect(bench.writingCalls == ["AcquireWrite"])
            #expect(bench.events.contains("mtu 1: 247"))
            #expect(bench.central.sessions.pendingAcquisitions == 0 && bench.central.sessions.acquiring.isEmpty)
        }
    }

    @Test("is replaced by calls if BlueZ refuses a descriptor", arguments: refusals)
    func refused(name: String, text: String) async throws {
        try await onLoop {
            let bench = try await CentralBench.thatWrites()
            bench.blueZ.faults.refused["AcquireWrite"] = (name, text)
            for count in 1...2 {
                bench.write(try beginning(), .withoutResponse)
                try await bench.wait("written 1", count)
                try await until("a response") { bench.values.count == count }
            }
            #expect(bench.writingCalls == ["AcquireWrite", "WriteValue", "WriteValue"])
        }
    }

    private static let refusals = [
        ("org.bluez.Error.NotSupported", "Operation is not supported"),
        ("org.freedesktop.DBus.Error.UnknownMethod", "no such method"),
        ("org.bluez.Error.Failed", "Too many open files"),
        ("org.freedesktop.DBus.Error.LimitsExceeded", "too many calls"),
    ]

    @Test("is replaced by calls if BlueZ does not answer in time")
    func unanswered() async throws {
        try await onLoop {
            let bench = try await CentralBench.thatWrites()
            bench.ignoreNext("AcquireWrite")
            bench.write([1], .withoutResponse)
            bench.write([2], .withoutResponse)
            try await bench.wait("written 1", 2)
            #expect(bench.writingCalls == ["AcquireWrite", "WriteValue", "WriteValue"])
        }
    }

    @Test("ends with a write with response, which is repeated until BlueZ has noticed")
    func released() async throws {
        try await onLoop {
            let bench = try await CentralBench.thatWrites()
            bench.write([1], .withoutResponse)
            try await bench.wait("written 1")
            bench.blueZ.faults.refused["WriteValue"] = ("org.bluez.Error.NotPermitted", "Write acquired")
            bench.onCall = { [unowned bench] _ in
                if bench.calls.count(where: { $0.hasPrefix("WriteValue") }) == 3 { bench.blueZ.faults.refused = [:] }
            }
            bench.write([2], .withResponse)
            try await bench.wait("written 1", 2)
            bench.write([3], .withoutResponse)
            try await bench.wait("written 1", 3)
            #expect(!bench.events.contains { $0.hasPrefix("writeFailed") })
            #expect(bench.writingCalls.count { $0 == "AcquireWrite" } == 1)
        }
    }

    @Test("is replaced by calls when BlueZ has closed the descriptor and the link stays up")
    func closed() async throws {
        try await onLoop {
            let bench = try await CentralBench.thatWrites(isSubscribed: false)
            bench.write([1], .withoutResponse)
            try await bench.wait("written 1")
            bench.blueZ.closeDescriptors()
            bench.write([2], .withoutResponse)
            try await bench.wait("written 1", 2)
            #expect(bench.writingCalls == ["AcquireWrite", "WriteValue"])
        }
    }

    @Test("of a value that is too long for the link fails as by a call")
    func tooLong() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.mtu = 64
            let bench = try await CentralBench.thatWrites(options)
            bench.write([UInt8](repeating: 1, count: 61), .withoutResponse)
            try await bench.wait("written 1")
            bench.write([UInt8](repeating: 1, count: 62), .withoutResponse)
            try await bench.wait("writeFailed 1 connectionFailed")
            bench.write([1], .withoutResponse)
            try await bench.wait("written 1", 2)
        }
    }

    @Test("waits while bluetoothd does not read")
    func full() async throws {
        try await onLoop {
            let bench = try await CentralBench.thatWrites()
            bench.write([1], .withoutResponse)
            try await bench.wait("written 1")
            let peripheral = try #require(bench.central.links.peripherals[CentralBench.address(1)])
            let path = try #require(peripheral.characteristics[TagCharacteristic.command.bluetooth])
            let channel = try #require(peripheral.writer(of: path).channel)
            // The other end is read in a later turn of this loop.
            let room = (0..<100_000).first { _ in channel.write([0x80]) != .written }
            try #require(room != nil)
            bench.write(try beginning(), .withoutResponse)
            #expect(peripheral.writeTimer != nil)
            try await bench.wait("written 1", 2)
            try await until("a response") { bench.values.count == 1 }
            #expect(bench.writingCalls == ["AcquireWrite"])
        }
    }

    @Test("is requested again on the next link, and a write that waits for it is not repeated there")
    func nextLink() async throws {
        try await onLoop {
            let bench = try await CentralBench.thatWrites()
            bench.blueZ.faults.unanswered = ["AcquireWrite"]
            bench.write([1], .withoutResponse)
            try await until("the call") { bench.writingCalls == ["AcquireWrite"] }
            try await bench.disconnect()
            bench.blueZ.faults.unanswered = []
            bench.clear()
            try await bench.connect()
            try await bench.discover()
            bench.write([2], .withoutResponse)
            try await bench.wait("written 1")
            try await bench.disconnect()
            bench.clear()
            try await bench.connect()
            try await bench.discover()
            bench.write([3], .withoutResponse)
            try await bench.wait("written 1")
            #expect(bench.writingCalls == ["AcquireWrite"])
            #expect(!bench.events.contains { $0.hasPrefix("writeFailed") })
        }
    }

    @Test("by another program is reported", arguments: [WriteType.withResponse, .withoutResponse])
    func inUse(type: WriteType) async throws {
        try await onLoop {
            let bench = try await CentralBench.thatWrites()
            let peripheral = try #require(bench.central.links.peripherals[CentralBench.address(1)])
            let path = try #require(peripheral.characteristics[TagCharacteristic.command.bluetooth])
            let other = try await bench.otherConnection()
            let held = try await other.call(
                .call(to: "org.bluez", path, "org.bluez.GattCharacteristic1", "AcquireWrite", [.properties([])])
            ).arguments
            bench.write([1], type)
            try await bench.wait("writeFailed 1 inUse")
            withExtendedLifetime(held) {}
            other.close()
        }
    }

    /// A request that a tag responds to.
    private func beginning() throws -> [UInt8] {
        try #require(Fragmenter.fragments(of: Request.begin().encoded(id: 1)).first)
    }
}

extension CentralBench {
    /// A bench whose first tag is connected and, unless a test excludes it, notifies responses.
    static func thatWrites(
        _ options: BlueZOptions = .quick, isSubscribed: Bool = true
    ) async throws -> CentralBench {
        let bench = try await CentralBench(options)
        try await bench.connect()
        try await bench.discover()
        if isSubscribed {
            bench.central.perform(.subscribe(TagCharacteristic.response.bluetooth, of: address(1)))
            try await bench.wait("subscribed 1")
        }
        return bench
    }

    /// The calls that write or prepare it.
    var writingCalls: [String] {
        calls.compactMap { call in ["AcquireWrite", "WriteValue"].first { call.hasPrefix($0) } }
    }
}
