import Bluetooth
import EventLoop
import FakeBlueZ
import TestSupport
import Testing
import Time

@testable import BlueZ

@Suite("Devices at whose connection bluetoothd ends")
struct CrashSuspectsTests {
    private let start = Instant(sinceBoot: .seconds(3_600))
    private let a = CentralBench.address(1)
    private let b = CentralBench.address(2)

    @Test("are connected immediately after the first crash, then after pauses that double up to ten minutes")
    func pauses() {
        var suspects = CrashSuspects()
        var pauses: [Int64?] = []
        for _ in 1...9 {
            suspects.begins(a, at: start)
            pauses.append(suspects.ended(at: start + .seconds(1))?.pause.components.seconds)
        }
        #expect(pauses == [nil, 10, 20, 40, 80, 160, 320, 600, 600])
        #expect(suspects.pause(of: a) == start + .seconds(601))
        #expect(suspects.pause(of: b) == nil)
    }

    @Test("are no longer suspects after bluetoothd has survived their connection")
    func survived() {
        var suspects = CrashSuspects()
        for _ in 1...2 {
            suspects.begins(a, at: start)
            _ = suspects.ended(at: start)
        }
        suspects.begins(a, at: start)
        suspects.survived(a)
        #expect(suspects.pause(of: a) == nil)
        #expect(suspects.ended(at: start) == nil)
        suspects.begins(a, at: start)
        #expect(suspects.ended(at: start) == nil)
    }

    @Test("are suspects only if bluetoothd ends within 30 s of the last attempt")
    func window() {
        var suspects = CrashSuspects()
        for _ in 1...3 {
            suspects.begins(a, at: start)
            #expect(suspects.ended(at: start + .seconds(30)) == nil)
        }
        for address in [a, b, a] {
            suspects.begins(address, at: start)
            if address == b { #expect(suspects.ended(at: start) == nil) }
        }
        #expect(suspects.ended(at: start + .milliseconds(29_999)) == nil)
        suspects.begins(a, at: start)
        #expect(suspects.ended(at: start + .milliseconds(29_999))?.address == a)
    }

    @Test("are at most 100")
    func bounded() throws {
        var suspects = CrashSuspects()
        func end(_ number: Int) throws -> Bool {
            let address = try #require(BluetoothAddress("F0:00:00:00:0\(number / 100):\(10 + number % 90)"))
            suspects.begins(address, at: start)
            return suspects.ended(at: start) != nil
        }
        for number in 0..<90 { #expect(try !end(number)) }
        for number in 100..<110 { #expect(try !end(number)) }
        #expect(try end(0))
        #expect(try !end(110))
        #expect(try !end(0))
    }

    @Test("of a filter by service are survived: after the second one, discovery does without the filter")
    func serviceFilter() async throws {
        try await onLoop {
            let bench = try await CentralBench(isStarted: false)
            bench.blueZ.faults.crashesAtServiceFilter = true
            try await bench.blueZ.start()
            try await bench.start()
            bench.scan()
            for round in 1...SearchFilter.enough {
                try await bench.wait("state resetting", round)
                #expect(bench.heard == [:])
                try await bench.blueZ.start()
                try await bench.wait("state poweredOn", round + 1)
            }
            bench.central.perform(.connect(CentralBench.address(1)))
            try await bench.wait("connected 1")
            #expect(bench.events.count { $0 == "state resetting" } == SearchFilter.enough)
            #expect(bench.complaints.contains { $0.contains("without the filter by service") })
        }
    }

    @Test("leave the filter by service in use if bluetoothd has survived a device, or has ended later")
    func filterInUse() {
        var filter = SearchFilter()
        for _ in 1...3 {
            filter.begins(at: start)
            #expect(filter.serviceEnded(at: start + .seconds(10)) == false)
            filter.begins(at: start)
            #expect(filter.serviceEnded(at: start + .milliseconds(9_999)) == false)
            #expect(filter.serviceEnded(at: start) == false)
            filter.begins(at: start)
            filter.survived()
            #expect(filter.serviceEnded(at: start) == false)
        }
        #expect(filter.isUsed)
        filter.begins(at: start)
        #expect(filter.serviceEnded(at: start) == false)
        filter.begins(at: start)
        #expect(filter.serviceEnded(at: start) == true)
        #expect(!filter.isUsed)
    }

    @Test("do not keep other devices from connecting")
    func others() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            for round in 1...2 {
                bench.clear()
                bench.onCall = { [unowned bench] in if $0 == "Connect 1" { bench.blueZ.crash() } }
                bench.scan()
                bench.central.perform(.connect(a))
                try await bench.wait("state resetting")
                bench.onCall = nil
                try await bench.blueZ.start()
                try await bench.wait("state poweredOn")
                #expect(bench.complaints.contains { $0.hasPrefix("bluetoothd has ended again") } == (round == 2))
            }
            bench.clear()
            bench.central.perform(.connect(a))
            bench.central.perform(.connect(b))
            try await bench.wait("connected 2")
            try await bench.scansAgain()
            try await until("the first device is heard") { bench.heard[a] != nil }
            try await bench.settle()
            #expect(!bench.calls.contains("Connect 1"))
        }
    }
}
