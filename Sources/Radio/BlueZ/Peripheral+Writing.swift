import Bluetooth
import DBus
import EventLoop
import Time

/// Writes to characteristics: without response by descriptor if BlueZ provides one, which bypasses the bus and needs no
/// answer of bluetoothd; otherwise by calls.
extension Peripheral {
    /// Writes a value to a characteristic, and reports the result.
    func write(_ value: [UInt8], to path: String, _ type: WriteType) {
        send(Write(writer: writer(of: path), value: value, type: type))
    }

    private func send(_ write: Write) {
        let writer = write.writer
        switch writer.route.next(write.type, length: write.value.count) {
        case .acquire:
            writer.waiting.append(write)
            acquire(writer)
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
        case .written: context.reportLater(.written(address))
        case .full: retry(write, BluetoothError(.busy, text: "bluetoothd does not read from its descriptor"))
        case .closed, nil:
            write.writer.channel = nil
            write.writer.route.ended()
            sendByCall(write)
        }
    }

    private func acquire(_ writer: CharacteristicWriter) {
        guard SpareDescriptors.areAvailable(beside: sessions.pendingAcquisitions) else {
            writer.route.refused()
            return sendWaiting(writer)
        }
        sessions.acquires(self)
        callCharacteristic(writer.path, "AcquireWrite", [.properties([])]) { [weak self] result in
            guard let self, isLinked else { return }
            acquireEnded(result, writer)
            sendWaiting(writer)
        }
    }

    private func acquireEnded(_ result: Result<DBusMessage, DBusError>, _ writer: CharacteristicWriter) {
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
        mtuChanged(mtu)
    }

    private func sendWaiting(_ writer: CharacteristicWriter) {
        let waiting = writer.waiting
        writer.waiting = []
        for write in waiting where isLinked { send(write) }
    }

    // MARK: By call

    // The type is always set. Without it, BlueZ chooses by the characteristic's flags, and a tag may refuse a type that
    // its flags permit.
    private static let requestOptions = DBusValue.properties([("type", .string("request"))])
    private static let commandOptions = DBusValue.properties([("type", .string("command"))])

    private func sendByCall(_ write: Write) {
        let options = write.type == .withResponse ? Self.requestOptions : Self.commandOptions
        context.connection.call(write.writer.call([.bytes(write.value), options])) { [weak self] result in
            guard let self, isLinked else { return }
            switch result {
            case .success: context.report(.written(address))
            case .failure(let error) where write.writer.route.isTransient(error):
                retry(write, BluetoothError(.busy, name: error.name, text: error.text))
            case .failure(let error): context.report(.writeFailed(address, accessError(error)))
            }
        }
    }

    /// Repeats a write that BlueZ or the bus could not accept, until the deadline.
    private func retry(_ write: Write, _ failure: BluetoothError) {
        var repeated = write
        let now = Instant.now
        var retries = write.retries ?? Write.Retries(context.timing, at: now)
        guard now < retries.deadline else { return context.reportLater(.writeFailed(address, failure)) }
        let pause = retries.pauses.next()
        repeated.retries = retries
        writeTimer = LoopTimer { [weak self, repeated] in
            guard let self, isLinked else { return }
            writeTimer = nil
            send(repeated)
        }
        writeTimer?.arm(at: min(now + pause, retries.deadline))
    }
}
