import Bluetooth
import EventLoop
import JacquardProtocol
import Logging
import TagStage
import TestSupport
import Testing
import Time

@testable import Tags

@Suite("Connecting a tag")
struct ConnectingTests {
    @Test("merges requests that wait for an address: the rule `always` and a bond remain")
    func merging() async throws {
        try await onLoop {
            let row = TagRow(TagHandle(number: 1), .desk)
            var pending = PendingConnection(row: row, rule: .oncePaired, bonding: false)
            pending.join(.oncePaired, bonding: false)
            #expect(pending.rule == .oncePaired)
            #expect(!pending.bonding)
            pending.join(.always, bonding: true)
            pending.join(.oncePaired, bonding: false)
            #expect(pending.rule == .always)
            #expect(pending.bonding)
        }
    }

    @Test("passes the steps of the SDK from the request to the connection")
    func steps() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            _ = stage.said()
            stage.link(address)
            #expect(
                stage.said() == [
                    "003R connecting 0", "> discover 01", "> scan off", "003R connecting 1", "003R connecting 2",
                    "> subscribe 01", "> subscribe 01", "> subscribe 01", "003R connecting 3", "003R connecting 4",
                    "003R initializing 5", "003R initializing 6", "> write 01",
                ])
            stage.start(address)
            #expect(
                stage.said().filter { $0 != "> write 01" } == [
                    "003R initializing 7", "003R initializing 8", "003R initializing 9", "003R information",
                    "003R configuring 10", "003R connected",
                ])
        }
    }

    @Test("joins an existing connection")
    func joins() async throws {
        try await onLoop {
            let stage = Stage()
            _ = stage.connect(.desk)
            stage.manager.connect(.desk)
            #expect(stage.said() == [])
        }
    }

    @Test("is retried after a loss")
    func reconnects() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.lose(address)
            #expect(stage.said() == ["003R preparing: bluetoothConnectionError"])
            _ = try await stage.said(upTo: "> connect 01")
            stage.link(address)
            stage.start(address)
            #expect(stage.said().last == "003R connected")
        }
    }

    @Test("reports the cause of a loss that is found out later")
    func correctedLoss() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.unlink(address)
            _ = stage.said()
            stage.manager.correctLoss(at: address, BluetoothError(.inUse, text: "another program"))
            #expect(stage.said() == ["003R preparing: inUse"])
            stage.manager.correctLoss(at: .number(9), BluetoothError(.inUse, text: "another program"))
            #expect(stage.said().isEmpty)
        }
    }

    @Test("ends on request without an error, after the link is down")
    func disconnects() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.disconnect(.desk)
            #expect(stage.said() == ["> disconnect 01"])
            stage.unlink(address)
            #expect(stage.said() == ["003R disconnected"])
            stage.hear(1)
            #expect(stage.said() == ["again 003R at 01"])
        }
    }

    @Test("removes a disconnected tag, unless its address would be lost")
    func places() async throws {
        try await onLoop {
            let stage = Stage()
            for number in 1...3 {
                let identity = TagIdentity(address: .number(number))
                _ = stage.connect(identity, at: number)
                stage.manager.disconnect(identity)
                stage.unlink(.number(number))
            }
            #expect(stage.manager.tags.isEmpty && stage.manager.drivers.isEmpty)
            let address = stage.connect(.desk)
            stage.manager.disconnect(.desk)
            stage.unlink(address)
            #expect(stage.manager.tags.count == 1)
        }
    }

    @Test("drops a link that comes up after the request was cancelled")
    func lateLink() async throws {
        try await onLoop {
            let stage = Stage()
            stage.central.report(.connected(.number(9)))
            #expect(stage.said() == ["> disconnect 09"])
        }
    }

    @Test("handles requests of the event handler after the pending actions")
    func listenerAsks() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.hear(1)
            stage.onEvent = { event in
                guard case .tag(let tag, .connection(let connection)) = event else { return }
                if connection.state == .preparingToConnect { stage.manager.disconnect(tag) }
            }
            _ = stage.said()
            stage.manager.connect(TagIdentity(address: address))
            let said = stage.said()
            #expect(said.firstIndex(of: "> connect 01") ?? .max < said.firstIndex(of: "> disconnect 01") ?? .min)
        }
    }

    @Test("ends for all tags when Bluetooth is switched off, and is refused until it is on")
    func powerOff() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.lose(address, .poweredOff)
            stage.central.report(.stateChanged(.poweredOff))
            #expect(
                stage.said() == [
                    "003R preparing: bluetoothPowerOff", "003R disconnected: bluetoothPowerOff", "central poweredOff",
                ])
            var refusal: TagConnection?
            stage.onEvent = { if case .tag(_, .connection(let connection)) = $0 { refusal = connection } }
            stage.manager.connect(.desk)
            #expect(stage.said() == ["003R disconnected: bluetoothPowerOff"])
            #expect(refusal?.attempt == 1 && refusal?.retryAt == nil)
            stage.onEvent = nil
            stage.central.report(.stateChanged(.poweredOn))
            stage.hear(1)
            #expect(stage.said() == ["central poweredOn", "again 003R at 01"])
            stage.manager.connect(.desk)
            #expect(stage.said() == ["003R preparing", "> connect 01", "> scan on"])
        }
    }

    @Test("is refused without a request to the central before the state of Bluetooth is known")
    func stateUnknown() async throws {
        try await onLoop {
            let stage = Stage(state: .unknown)
            stage.manager.connect(TagIdentity(address: .number(1)))
            #expect(stage.said() == ["@01 disconnected: bluetoothPowerOff"])
            #expect(stage.manager.tags.isEmpty)
        }
    }

    @Test("completes each command once, also on a disconnected tag")
    func commands() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.enqueue(.batteryStatus, on: .desk, token: 1)
            #expect(stage.said() == ["003R command 1: notConnected"])
            let address = stage.connect(.desk)
            stage.manager.enqueue(.rename("Chair"), on: .desk, token: 2)
            stage.manager.enqueue(.batteryStatus, on: .desk, token: 3)
            #expect(stage.said() == ["> write 01"])
            stage.lose(address)
            #expect(
                stage.said() == [
                    "003R command 2: linkLost", "003R command 3: notConnected",
                    "003R preparing: bluetoothConnectionError",
                ])
        }
    }

    @Test(
        "fails with the SDK's error for the stack's error",
        arguments: [
            (BluetoothError.Code.notFound, TagConnectionError.Code.bluetoothDeviceNotFound),
            (.poweredOff, .bluetoothPowerOff), (.connectionFailed, .bluetoothConnectionError),
            (.canceled, .bluetoothConnectionError), (.timeout, .bluetoothConnectionError),
            (.authenticationFailed, .bluetoothConnectionError), (.serviceMissing, .serviceDiscoveryError),
            (.characteristicMissing, .characteristicDiscoveryError), (.notPermitted, .unknownBluetoothError),
            (.other, .unknownBluetoothError), (.busy, .bluetoothConnectionError), (.inUse, .inUse),
            (.subscriptionStuck, .subscriptionStuck),
        ])
    func names(stack: BluetoothError.Code, name: TagConnectionError.Code) async throws {
        let error = TagConnectionError(BluetoothError(stack, name: "org.bluez.Error.Failed", text: "refused"))
        #expect(error == TagConnectionError(name, "refused", stackName: "org.bluez.Error.Failed"))
    }

    @Test(
        "keeps how the stack says that the link has ended",
        arguments: [
            (BluetoothError.DisconnectReason.remote, LinkEnd.remote), (.timeout, .timeout), (.local, .local),
        ])
    func linkEnds(stack: BluetoothError.DisconnectReason, end: LinkEnd) {
        #expect(TagConnectionError(BluetoothError(.connectionFailed, text: "lost", end: stack)).linkEnd == end)
    }

    @Test("passes on the adapters and a fault of Bluetooth, and the time at which a value was read")
    func passedOn() async throws {
        try await onLoop {
            let stage = Stage()
            stage.central.report(.faultChanged(.noAdapter))
            stage.central.report(.adaptersChanged([]))
            #expect(stage.said() == ["fault \(AdapterFault.noAdapter.text)", "adapters 0"])
            let address = stage.connect(.desk)
            let before = Instant.now
            stage.gesture(address)
            #expect(stage.manager.eventTime >= before)
        }
    }

    @Test("writes raw data to the characteristic of raw data")
    func raw() async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            var writes: [CentralRequest] = []
            stage.central.onRequest = { if case .write = $0 { writes.append($0) } }
            stage.manager.enqueue(.sendRaw([1, 2, 3]), on: .desk, token: 1)
            guard case .write(let value, to: let uuid, of: address, .withoutResponse)? = writes.first else {
                Issue.record("nothing was written: \(writes)")
                return
            }
            #expect(uuid == JacquardGATT.uuid(.rawData))
            #expect(value.suffix(3) == [1, 2, 3])
        }
    }

    @Test("splits a request into writes that fit the MTU of the link", arguments: [(23, [20, 17]), (64, [36])])
    func mtu(mtu: Int, expected: [Int]) async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.central.report(.mtuChanged(address, mtu))
            var lengths: [Int] = []
            stage.central.onRequest = { request in
                if case .write(let value, to: _, of: _, _) = request { lengths.append(value.count) }
            }
            stage.manager.enqueue(.rename("Over the clouds above"), on: .desk, token: 1)
            stage.central.report(.written(address))
            #expect(lengths == expected)
        }
    }

    @Test(
        "writes as the properties of the command characteristic allow",
        arguments: [(CharacteristicProperties.write, true), (.writeWithoutResponse, false)])
    func writeType(properties: CharacteristicProperties, isConfirmed: Bool) async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            stage.central.report(.connected(address))
            var writes: [CentralRequest] = []
            stage.central.onRequest = { if case .write = $0 { writes.append($0) } }
            stage.discover(address, properties)
            guard case .write(_, to: let uuid, of: address, let type)? = writes.first else {
                Issue.record("nothing was written: \(writes)")
                return
            }
            #expect(uuid == JacquardGATT.uuid(.command))
            #expect(type == (isConfirmed ? .withResponse : .withoutResponse))
        }
    }

    @Test(
        "writes without response once the tag is known, if the characteristic allows that",
        arguments: [
            (.write, .withResponse), ([.write, .writeWithoutResponse], .withoutResponse),
        ] as [(CharacteristicProperties, WriteType)])
    func laterWriteType(properties: CharacteristicProperties, expected: WriteType) async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            stage.central.report(.connected(address))
            stage.discover(address, properties)
            stage.start(address)
            let record = stage.central.onRequest
            var types: [WriteType] = []
            stage.central.onRequest = { request in
                record?(request)
                if case .write(_, to: _, of: _, let type) = request { types.append(type) }
            }
            stage.manager.enqueue(.rename("Chair"), on: .desk, token: 1)
            #expect(types.first == expected)
        }
    }

    @Test(
        "fails a command as busy only if the stack was too busy to write",
        arguments: [
            BluetoothError.Code.busy, .inUse, .connectionFailed, .notPermitted, .other,
        ])
    func failedWrite(code: BluetoothError.Code) async throws {
        try await onLoop {
            let stage = Stage()
            let address = stage.connect(.desk)
            stage.manager.enqueue(.rename("Chair"), on: .desk, token: 1)
            stage.central.report(.writeFailed(address, BluetoothError(code, text: "refused")))
            let result = code == .busy ? "003R command 1: busy" : "003R command 1: writeFailed"
            #expect(stage.said().contains { $0.hasPrefix(result) })
        }
    }

    @Test("continues with writes without response if the tag refuses the first write")
    func notPermittedWrite() async throws {
        try await onLoop {
            let stage = Stage()
            stage.manager.connect(.desk)
            let address = stage.hear(1)
            stage.link(address)
            _ = stage.said()
            var isRepeated = false
            stage.central.onRequest = { if case .write(_, to: _, of: _, .withoutResponse) = $0 { isRepeated = true } }
            stage.central.report(.writeFailed(address, BluetoothError(.notPermitted, text: "Write not permitted")))
            #expect(isRepeated)
            #expect(stage.manager.tags[.desk]?.session.usesLink == true)
        }
    }

    @Test(
        "uses the characteristics of the tag's service only", arguments: TagCharacteristic.allCases)
    func characteristics(characteristic: TagCharacteristic) throws {
        #expect(JacquardGATT.characteristic(JacquardGATT.uuid(characteristic)) == characteristic)
        #expect(JacquardGATT.characteristic(JacquardGATT.service) == nil)
    }

    @Test("ends with the manager, which may be released by the receiver of an event, while the central goes on")
    func released() async throws {
        try await onLoop {
            let central = ScriptedCentral()
            var requests: [String] = []
            central.onRequest = { requests.append(Line.of($0)) }
            var timing = TagSession.Timing()
            (timing.connect, timing.close) = (.milliseconds(1), .milliseconds(1))
            var manager: TagManager? = TagManager(
                central: central, timing: timing, log: Logger("test", to: MemorySink()))
            var isFailed = false
            manager?.onEvent = { event in
                guard case .tag(_, .connection(let connection)) = event, connection.error != nil else { return }
                isFailed = true
                // By the timer of the session, in the middle of its actions.
                manager = nil
            }
            central.report(.stateChanged(.poweredOn))
            manager?.connect(TagIdentity(serial: .desk, address: .number(1)))
            try await until("the attempt has failed") { isFailed }
            #expect(manager == nil)
            #expect(requests.last == "> scan on")
            let count = requests.count
            central.report(.stateChanged(.poweredOff))
            central.report(.disconnected(.number(1), nil))
            await HelperThread.shared.run {}
            #expect(requests.count == count)
        }
    }
}
