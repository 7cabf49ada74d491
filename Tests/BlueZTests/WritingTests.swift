import Bluetooth
import EventLoop
import TagSimulator
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

    @Test("with response is refused by a tag that does not permit it, and works without")
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

    @Test("that is never answered fails in time")
    func hanging() async throws {
        try await onLoop {
            var timing = Timing.quick
            timing.call = .milliseconds(50)
            let bench = try await CentralBench(timing: timing)
            try await bench.connect()
            try await bench.discover()
            bench.blueZ.faults.unanswered = ["WriteValue"]
            bench.write([1], .withResponse)
            try await bench.wait("writeFailed 1 timeout")
        }
    }
}
