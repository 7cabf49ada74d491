import DBus
import EventLoop

/// `org.bluez.GattCharacteristic1`: the interface; notifying is in another file.
///
/// Order of checks and texts of errors: src/gatt-client.c of BlueZ.
@LoopActor
final class GattCharacteristic1: BusObject {
    static let interface = "org.bluez.GattCharacteristic1"

    let path: String
    let uuid: String
    unowned let device: Device1
    /// The same, for what happens some time after a client has gone: the device may have been removed by then.
    private(set) weak var remainingDevice: Device1?
    private let service: String
    private let flags: [String]

    var value: [UInt8]?
    var sessions: [String: NotifySession] = [:]
    var isNotifying = false
    var acquisition = Acquisition.none
    /// Frees the descriptor of a client that has gone.
    lazy var releaseTimer = LoopTimer { [unowned self] in releaseLate() }
    /// Switches the device's notifications off after that.
    lazy var unsubscribeTimer = LoopTimer { [unowned self] in unsubscribe() }
    /// Our end of the socket that AcquireWrite hands out; nil while no client has it.
    private var writeSocket: WriteSocket?
    private var isWriting = false

    init(_ characteristic: GATTService.Characteristic, path: String, service: String, device: Device1) {
        uuid = characteristic.uuid
        flags = characteristic.flags
        self.path = path
        self.service = service
        self.device = device
        remainingDevice = device
    }

    var interfaces: [BusInterface] {
        [BusInterface(name: Self.interface, properties: properties, methods: methods)]
    }

    var notifies: Bool { flags.contains("notify") }
    private var options: BlueZOptions { device.options }

    private var properties: [BusProperty] {
        [
            BusProperty("UUID", "s") { .string(self.uuid) },
            BusProperty("Service", "o") { .objectPath(self.service) },
            BusProperty("Value", "ay") { self.value.map(DBusValue.bytes) },
            BusProperty("Notifying", "b") { self.notifies ? .boolean(self.isNotifying) : nil },
            BusProperty("Flags", "as") { .strings(self.flags) },
            BusProperty("NotifyAcquired", "b") {
                self.notifies && self.options.allowsAcquireNotify ? .boolean(!self.acquisition.isNone) : nil
            },
            BusProperty("WriteAcquired", "b") {
                self.canAcquireWrite ? .boolean(self.writeSocket != nil) : nil
            },
            BusProperty("MTU", "q") { self.device.isConnected ? .uint16(self.options.mtu) : nil },
        ]
    }

    private var methods: [BusMethod] {
        [
            BusMethod("ReadValue", takes: "a{sv}", gives: "ay") { self.read($0) },
            BusMethod("WriteValue", takes: "aya{sv}") { self.write($0) },
            BusMethod("AcquireWrite", takes: "a{sv}", gives: "hq") { self.acquireWrite($0) },
            BusMethod("AcquireNotify", takes: "a{sv}", gives: "hq") { self.acquireNotify($0) },
            BusMethod("StartNotify") { self.startNotify($0) },
            BusMethod("StopNotify") { self.stopNotify($0) },
        ]
    }

    func changed(_ property: String) {
        device.tree.changed(self, Self.interface, property)
    }

    /// Nothing can be learnt from the characteristics of a tag by reading.
    private func read(_ call: BusCall) {
        guard device.isConnected else { return call.refuse(.linkIsDown) }
        device.bearer.request { [self] isAnswered in
            guard isAnswered else { return call.refuse(.linkEnded) }
            guard device.isPairedEnough else { return call.refuse(.notPaired) }
            guard flags.contains("read") else { return call.refuse(.notPermitted("Read not permitted")) }
            call.reply(.bytes([]))
        }
    }

    // MARK: Writing

    private func write(_ call: BusCall) {
        guard device.isConnected else { return call.refuse(.linkIsDown) }
        guard writeSocket == nil else { return call.refuse(.notPermitted("Write acquired")) }
        guard !isWriting else { return call.refuse(.inProgress) }
        guard let value = call.arguments[0].byteArray, let options = call.arguments[1].textKeyed else {
            return call.refuse(.invalidArguments)
        }
        let type = options["type"]?.text?.lowercased()
        switch type {
        case "request", "reliable": request(value, call)
        case nil where flags.contains("write"): request(value, call)
        case "command": command(value, call)
        case nil where flags.contains("write-without-response"): command(value, call)
        default: call.refuse(.notSupported)
        }
    }

    private func request(_ value: [UInt8], _ call: BusCall) {
        isWriting = true
        device.bearer.request { [self] isAnswered in
            isWriting = false
            guard isAnswered else { return call.refuse(.linkEnded) }
            // What is longer bluetoothd sends as a prepared write, which tags do not support.
            guard value.count <= maximumLength else { return call.refuse(.notSupported) }
            guard device.isPairedEnough else { return call.refuse(.notPaired) }
            guard device.peripheral.allowsWriteRequest(on: uuid) else {
                return call.refuse(.notPermitted("Write not permitted"))
            }
            // A device confirms first and acts then.
            call.reply()
            device.peripheral.write(value, on: uuid)
        }
    }

    /// Bytes that a write carries.
    private var maximumLength: Int {
        let attributeHeader = 3
        return Int(options.mtu) - attributeHeader
    }

    /// A write command has no response, so an error of the device is not reported.
    private func command(_ value: [UInt8], _ call: BusCall) {
        guard value.count <= maximumLength else { return call.refuse(.failed("Failed to initiate write")) }
        call.reply()
        command(value)
    }

    private func command(_ value: [UInt8]) {
        guard flags.contains("write-without-response"), device.isPairedEnough, device.isReachable else {
            return
        }
        device.peripheral.write(value, on: uuid)
    }

    // MARK: Writing by descriptor

    private var canAcquireWrite: Bool { flags.contains("write-without-response") && options.allowsAcquireWrite }

    /// Answered at once: services are on the bus when they are resolved, and the MTU is negotiated then.
    private func acquireWrite(_ call: BusCall) {
        guard device.isConnected else { return call.refuse(.linkIsDown) }
        guard writeSocket == nil else { return call.refuse(.notPermitted("Write acquired")) }
        guard canAcquireWrite else { return call.refuse(.notSupported) }
        guard let (socket, clientEnd) = try? WriteSocket.pair() else {
            return call.refuse(.failed("Too many open files"))
        }
        // bluetoothd discards a value that is too long.
        socket.onValue = { [weak self] value in
            guard let self, value.count <= maximumLength else { return }
            command(value)
        }
        socket.onClosed = { [weak self] in self?.closeWriteSocket() }
        writeSocket = socket
        changed("WriteAcquired")
        call.reply(.descriptor(clientEnd), .uint16(options.mtu))
    }

    /// Closes our end of the socket of AcquireWrite, as with the link.
    func closeWriteSocket() {
        guard writeSocket != nil else { return }
        writeSocket = nil
        changed("WriteAcquired")
    }
}

/// `org.bluez.GattService1`
@LoopActor
final class GattService1: BusObject {
    static let interface = "org.bluez.GattService1"

    let path: String
    let characteristics: [GattCharacteristic1]
    private let service: GATTService
    private let device: String

    /// Numbers the service and what is in it by handles, as on a real device.
    init(_ service: GATTService, firstHandle: Int, of device: Device1) {
        self.service = service
        self.device = device.path
        let path = device.path + "/service" + Self.hex(firstHandle)
        self.path = path
        var handle = firstHandle + 1
        characteristics = service.characteristics.map { characteristic in
            defer { handle += characteristic.flags.contains("notify") ? 3 : 2 }
            return GattCharacteristic1(
                characteristic, path: path + "/char" + Self.hex(handle), service: path, device: device)
        }
    }

    var interfaces: [BusInterface] {
        [
            BusInterface(
                name: Self.interface,
                properties: [
                    BusProperty("UUID", "s") { .string(self.service.uuid) },
                    BusProperty("Device", "o") { .objectPath(self.device) },
                    BusProperty("Primary", "b") { .boolean(true) },
                    BusProperty("Includes", "ao") { .array([], element: "o") },
                ])
        ]
    }

    private static func hex(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
