import Bluetooth
import EventLoop
import FakeBlueZ
import Logging
import Simulator
import TestSupport
import Testing

@testable import BlueZ

@Suite("Refused discovery")
struct DiscoveryRefusalsTests {
    @Test(
        "is a fault from the third refusal in a row until a start succeeds, and asks for a reset after 4, 8, 16 ... refusals"
    )
    func count() {
        var refusals = DiscoveryRefusals()
        var errors: [String?] = []
        var resets: [Int] = []
        for number in 1...20 {
            if refusals.refused("E\(number)") == .resetAdapter { resets.append(number) }
            errors.append(refusals.error)
        }
        #expect(errors.prefix(4) == [nil, nil, "E3", "E4"])
        #expect(resets == [4, 8, 16])
        refusals.end()
        #expect(refusals.error == nil)
        #expect(refusals.refused("E") == .none)
        #expect(refusals.error == nil)
    }

    @Test("is reported with the error of BlueZ, and is over when BlueZ accepts a start")
    func reported() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.blueZ.faults.refused["StartDiscovery"] = (
                "org.bluez.Error.InProgress", "Operation already in progress"
            )
            bench.scan()
            try await until("the fault") { bench.faults.last != .some(nil) && !bench.faults.isEmpty }
            guard case .discoveryRefused(let error)?? = bench.faults.last else {
                Issue.record("\(bench.faults)")
                return
            }
            #expect(error.contains("org.bluez.Error.InProgress") && error.contains("Operation already in progress"))
            #expect(bench.central.fault == .discoveryRefused(error))
            bench.blueZ.faults.refused = [:]
            try await bench.wait("scanning true")
            #expect(bench.faults.last == .some(nil) && bench.central.fault == nil)
        }
    }

    @Test("is over with its adapter")
    func adapterLost() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            bench.blueZ.faults.refused["StartDiscovery"] = ("org.bluez.Error.Failed", "")
            bench.scan()
            try await until("the fault") { bench.central.fault != nil }
            bench.blueZ.setPowered(false)
            try await bench.wait("state poweredOff")
            var isOver = false
            bench.onEvent = { [unowned bench] in
                if case .stateChanged(.poweredOn) = $0 { isOver = bench.central.fault == nil }
            }
            bench.blueZ.setPowered(true)
            try await bench.wait("state poweredOn", 2)
            #expect(isOver)
        }
    }

    @Test("switches the adapter off and on, if that is allowed")
    func reset() async throws {
        try await onLoop {
            let bench = try await CentralBench(resetAdapter: true)
            bench.blueZ.faults.refused["StartDiscovery"] = ("org.bluez.Error.Failed", "")
            bench.scan()
            try await bench.wait("state poweredOff")
            bench.blueZ.faults.refused = [:]
            try await bench.wait("scanning true")
            #expect(bench.events.filter { $0.hasPrefix("state") }.suffix(2) == ["state poweredOff", "state poweredOn"])
        }
    }
}
