import Bluetooth
import TagStage
import TestSupport
import Testing

@testable import Tags

@Suite("Scanning")
struct ScanningTests {
    @Test("starts and stops on request, and reports what the central does")
    func onAndOff() async throws {
        try await onLoop {
            let stage = Stage()
            #expect(!stage.manager.isScanWanted)
            try stage.manager.startScanning(allowsDuplicates: false)
            #expect(stage.said() == ["> scan on"])
            #expect(stage.manager.isScanWanted)
            stage.central.report(.scanning(true))
            #expect(stage.said() == ["scanning"])
            stage.hear(1)
            #expect(stage.said() == ["heard 003R at 01"])
            stage.manager.stopScanning()
            #expect(stage.said() == ["> scan off", "not scanning"])
            #expect(!stage.manager.isScanWanted)
            stage.central.report(.scanning(false))
            #expect(stage.said() == [])
        }
    }

    @Test("has not ended if none was begun")
    func none() async throws {
        try await onLoop {
            let stage = Stage()
            stage.central.report(.scanning(false))
            #expect(stage.said() == [])
        }
    }

    @Test("is not reported as ended when Bluetooth can be used for the first time")
    func firstState() async throws {
        try await onLoop {
            let stage = Stage(state: .unknown)
            stage.central.report(.stateChanged(.poweredOn))
            #expect(stage.said() == ["central poweredOn"])
        }
    }

    @Test("is refused with the state while Bluetooth is not on", arguments: CentralState.allCases)
    func refused(state: CentralState) async throws {
        try await onLoop {
            let stage = Stage(state: state)
            guard state != .poweredOn else { return try stage.manager.startScanning(allowsDuplicates: false) }
            #expect(throws: ManagerScanningError.bluetoothUnavailable(state)) {
                try stage.manager.startScanning(allowsDuplicates: false)
            }
            #expect(stage.said() == [])
        }
    }

    @Test("reports a tag once per scan, or each advertisement if duplicates are allowed", arguments: [false, true])
    func duplicates(allowsDuplicates: Bool) async throws {
        try await onLoop {
            let stage = Stage()
            try stage.manager.startScanning(allowsDuplicates: allowsDuplicates)
            stage.hear(1)
            stage.hear(1, rssi: -70)
            let second = allowsDuplicates ? "heard" : "again"
            #expect(stage.said() == ["> scan on", "heard 003R at 01", "\(second) 003R at 01"])
            try stage.manager.startScanning(allowsDuplicates: allowsDuplicates)
            stage.hear(1)
            #expect(stage.said() == ["heard 003R at 01"])
        }
    }

    @Test("ignores devices of other companies and those without a serial")
    func otherDevices() async throws {
        try await onLoop {
            let stage = Stage()
            let serial = PairingSerialBytes.desk
            stage.central.report(.discovered(.number(1), Advertisement(name: "a", manufacturerData: [:], rssi: -1)))
            stage.central.report(
                .discovered(.number(2), Advertisement(name: "b", manufacturerData: [0x4C: serial], rssi: -1)))
            stage.central.report(
                .discovered(.number(3), Advertisement(name: "c", manufacturerData: [0xE0: []], rssi: -1)))
            #expect(stage.said() == [])
        }
    }

    @Test("continues unreported while a requested tag is missing")
    func missingTag() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            #expect(stage.said() == ["003R preparing", "> scan on"])
            stage.central.report(.scanning(true))
            try stage.manager.startScanning(allowsDuplicates: false)
            #expect(stage.said() == ["scanning"])
            stage.manager.stopScanning()
            #expect(stage.said() == ["not scanning"])
            let address = stage.hear(1)
            stage.link(address)
            #expect(stage.said().contains("> scan off"))
            stage.lose(address)
            #expect(stage.said() == ["003R preparing: bluetoothConnectionError"])
            let again = try await stage.said(upTo: "> scan on")
            #expect(again.contains("> connect 01"))
        }
    }

    @Test("stops when the request for a missing tag is cancelled")
    func unwantedTag() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            stage.manager.disconnect(.desk)
            #expect(stage.said() == ["003R preparing", "> scan on", "> scan off"])
            let end = try await stage.said(upTo: "003R disconnected")
            #expect(end == ["003R disconnected"])
        }
    }

    @Test("continues after Bluetooth was off")
    func powerCycle() async throws {
        try await onLoop {
            let stage = Stage()
            try stage.manager.startScanning(allowsDuplicates: false)
            stage.central.report(.scanning(true))
            stage.central.report(.stateChanged(.poweredOff))
            #expect(stage.said() == ["> scan on", "scanning", "central poweredOff", "> scan off", "not scanning"])
            stage.central.report(.scanning(false))
            stage.central.report(.stateChanged(.poweredOn))
            stage.central.report(.scanning(true))
            #expect(stage.said() == ["central poweredOn", "> scan on", "scanning"])
        }
    }

    @Test("reports at most 1,000 tags in a scan without duplicates")
    func flood() async throws {
        try await onLoop {
            var scan = RequestedScan()
            scan.begin(allowsDuplicates: false)
            let reported = (0..<1100).count { number in
                let address = BluetoothAddress("F0:00:00:00:\(number / 100 + 10):\(number % 100 / 10)\(number % 10)")
                let advertisement = ScriptedTag(1, serial: .desk).advertisement()
                return address.flatMap { AdvertisedTag($0, advertisement) }.map { scan.isNew($0) } ?? false
            }
            #expect(reported == 1000)
        }
    }

    @Test("requests every advertisement of tags, because a missing tag is connected when it advertises again")
    func options() async throws {
        try await onLoop {
            let stage = Stage()
            var asked: [BluetoothUUID?] = []
            stage.central.onRequest = { if case .scan(let service) = $0 { asked.append(service) } }
            try stage.manager.startScanning(allowsDuplicates: false)
            stage.manager.stopScanning()
            #expect(asked == [JacquardGATT.service, nil])
        }
    }
}

private enum PairingSerialBytes {
    /// 003R.
    static let desk: [UInt8] = [0x00, 0x30, 0x6C, 0x3F]
}
