import Bluetooth
import DBus
import EventLoop
import Time

/// Writes to the characteristics of a connected device: without response by descriptor if BlueZ provides one, which
/// bypasses the bus and needs no answer of bluetoothd; otherwise by calls.
extension BlueZCentral {
    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, of address: BluetoothAddress, _ type: WriteType
    ) {
        guard let (peripheral, path) = locate(characteristic, address) else {
            return reportLater(.writeFailed(address, Self.characteristicMissing))
        }
        send(Write(peripheral: peripheral, writer: peripheral.writer(of: path), value: value, type: type))
    }

    private func send(_ write: Write) {
        let writer = write.writer
        switch writer.route.next(write.type, length: write.value.count) {
        case .acquire:
            writer.waiting.append(write)
            acquireWrite(writer, of: write.peripheral)
        case .wait: writer.waiting.append(write)
        case .descriptor: sendByDescriptor(write)
        case .release:
            writer.channel = nil
            sendByCall(write)
        case .call: sendByCall(write)
        }
    }

    // MARK: By descriptor

    /// The caller's `written` means that bluetoothd will get the value, as with the answer to a `WriteValue` without
    /// response. If the link ends meanwhile, the value is lost in both cases.
    private func sendByDescriptor(_ write: Write) {
        switch write.writer.channel?.write(write.value) {
        case .written: reportLater(.written(write.peripheral.address))
        case .full: retry(write, BluetoothError(.busy, text: "bluetoothd does not read from its descriptor"))
        case .closed, nil:
            write.writer.channel = nil
            write.writer.route.ended()
            sendByCall(write)
        }
    }

    private func acquireWrite(_ writer: CharacteristicWriter, of peripheral: Peripheral) {
        guard SpareDescriptors.areAvailable(beside: pendingAcquisitions) else {
            writer.route.refused()
            return sendWaiting(writer, of: peripheral)
        }
        acquiring.insert(peripheral.address)
        callCharacteristic(writer.path, "AcquireWrite", [.properties([])]) { [weak self] result in
            guard let self, isLinked(peripheral) else { return }
            acquireWriteEnded(result, writer, of: peripheral)
            sendWaiting(writer, of: peripheral)
        }
    }

    private func acquireWriteEnded(
        _ result: Result<DBusMessage, DBusError>, _ writer: CharacteristicWriter, of peripheral: Peripheral
    ) {
        let arguments = (try? result.get())?.arguments ?? []
        // The descriptor last: if it is not taken, it is closed with the message.
        guard let mtu = arguments.last?.integer, case .descriptor(let descriptor)? = arguments.first,
            let number = descriptor.take()
        else {
            // If there is another problem than this refusal, `WriteValue` reports it, too.
            return result.isTimeout ? writer.route.ended() : writer.route.refused()
        }
        writer.acquired(WriteChannel(owning: number))
        writer.route.acquired(mtu: mtu)
        mtuChanged(mtu, of: peripheral)
    }

    private func sendWaiting(_ writer: CharacteristicWriter, of peripheral: Peripheral) {
        let waiting = writer.waiting
        writer.waiting = []
        for write in waiting where isLinked(peripheral) { send(write) }
    }

    // MARK: By call

    // The type is always set. Without it, BlueZ chooses by the characteristic's flags, and a tag may refuse a type that
    // its flags permit.
    private static let requestOptions = DBusValue.properties([("type", .string("request"))])
    private static let commandOptions = DBusValue.properties([("type", .string("command"))])

    private func sendByCall(_ write: Write) {
        let options = write.type == .withResponse ? Self.requestOptions : Self.commandOptions
        call(write.writer.call([.bytes(write.value), options])) { [weak self] result in
            guard let self, isLinked(write.peripheral) else { return }
            let address = write.peripheral.address
            switch result {
            case .success: onEvent?(.written(address))
            case .failure(let error) where write.writer.route.isTransient(error):
                retry(write, BluetoothError(.busy, name: error.name, text: error.text))
            case .failure(let error): onEvent?(.writeFailed(address, accessError(error, write.peripheral)))
            }
        }
    }

    /// Repeats a write that BlueZ or the bus could not accept, until the deadline.
    private func retry(_ write: Write, _ failure: BluetoothError) {
        var write = write
        let now = Instant.now
        let retries = write.retries ?? Write.Retries(timing, at: now)
        guard now < retries.deadline else {
            return reportLater(.writeFailed(write.peripheral.address, failure))
        }
        var next = retries
        let pause = next.pauses.next()
        write.retries = next
        let repeated = write
        write.peripheral.writeTimer = LoopTimer { [weak self] in
            guard let self, isLinked(repeated.peripheral) else { return }
            repeated.peripheral.writeTimer = nil
            send(repeated)
        }
        write.peripheral.writeTimer?.arm(at: min(now + pause, next.deadline))
    }
}
