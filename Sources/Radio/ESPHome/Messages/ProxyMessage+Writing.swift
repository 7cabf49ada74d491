import ProtobufWire

/// Encoding. As in proto3, fields with the value 0 are not written.
extension ProxyMessage {
    /// The message as it is sent.
    public var frame: FrameChannel.Message {
        var writer = WireWriter()
        let type = write(to: &writer)
        return FrameChannel.Message(type: type, body: writer.bytes)
    }

    /// Writes the fields, and returns the number of the message.
    private func write(to writer: inout WireWriter) -> UInt32 {
        switch self {
        case .hello(let client, let major, let minor):
            writer.writeText(client, field: 1)
            writer.writeNonZero(major, field: 2)
            writer.writeNonZero(minor, field: 3)
            return 1
        case .helloResponse(let major, let minor, let server, let name):
            writer.writeNonZero(major, field: 1)
            writer.writeNonZero(minor, field: 2)
            writer.writeText(server, field: 3)
            writer.writeText(name, field: 4)
            return 2
        case .disconnect: return 5
        case .disconnectResponse: return 6
        case .ping: return 7
        case .pingResponse: return 8
        case .deviceInfo: return 9
        case .deviceInfoResponse(let info):
            writer.writeText(info.name, field: 2)
            writer.writeText(info.version, field: 4)
            writer.writeNonZero(info.features.rawValue, field: 15)
            writer.writeText(info.bluetoothAddress, field: 18)
            return 10
        case .subscribeAdvertisements(let flags):
            writer.writeNonZero(flags, field: 1)
            return 66
        case .unsubscribeAdvertisements: return 87
        case .advertisements(let all):
            for advertisement in all { writer.write(advertisement) }
            return 93
        case .scannerState(let state):
            writer.writeNonZero(state.rawValue, field: 1)
            // Active scanning, which is also the configured mode.
            writer.writeNonZero(1, field: 2)
            writer.writeNonZero(1, field: 3)
            return 126
        case .subscribeConnectionsFree: return 80
        case .connectionsFree(let free, let limit, let allocated):
            writer.writeNonZero(free, field: 1)
            writer.writeNonZero(limit, field: 2)
            for address in allocated { writer.write(address, field: 3) }
            return 81
        case .device, .connection, .paired, .unpaired, .setParameters, .parametersSet:
            return writeLink(to: &writer)
        case .getServices, .services, .servicesDone, .write, .writeDescriptor, .written, .notify, .notifySet, .value,
            .failed:
            return writeAccess(to: &writer)
        }
    }

    private func writeLink(to writer: inout WireWriter) -> UInt32 {
        switch self {
        case .device(let address, let request, let addressType):
            writer.writeNonZero(address, field: 1)
            writer.writeNonZero(request.rawValue, field: 2)
            if let addressType {
                writer.write(true, field: 3)
                writer.writeNonZero(addressType, field: 4)
            }
            return 68
        case .connection(let address, let isConnected, let mtu, let error):
            writer.writeNonZero(address, field: 1)
            writer.writeNonZero(isConnected ? 1 : 0, field: 2)
            writer.writeNonZero(mtu, field: 3)
            writer.writeNonZero(error, field: 4)
            return 69
        case .paired(let address, let isDone, let error), .unpaired(let address, let isDone, let error):
            writer.writeNonZero(address, field: 1)
            writer.writeNonZero(isDone ? 1 : 0, field: 2)
            writer.writeNonZero(error, field: 3)
            if case .paired = self { return 85 }
            return 86
        case .setParameters(let address, let minimum, let maximum, let latency, let timeout):
            writer.writeNonZero(address, field: 1)
            writer.writeNonZero(minimum, field: 2)
            writer.writeNonZero(maximum, field: 3)
            writer.writeNonZero(latency, field: 4)
            writer.writeNonZero(timeout, field: 5)
            return 145
        case .parametersSet(let address, let error):
            writer.writeNonZero(address, field: 1)
            writer.writeNonZero(error, field: 2)
            return 146
        default: return 0
        }
    }

    private func writeAccess(to writer: inout WireWriter) -> UInt32 {
        switch self {
        case .getServices(let address):
            writer.writeNonZero(address, field: 1)
            return 70
        case .services(let address, let services):
            writer.writeNonZero(address, field: 1)
            for service in services { writer.write(service) }
            return 71
        case .servicesDone(let address):
            writer.writeNonZero(address, field: 1)
            return 72
        case .write(let address, let handle, let withResponse, let data):
            writer.write(address, handle)
            writer.writeNonZero(withResponse ? 1 : 0, field: 3)
            writer.writeData(data, field: 4)
            return 75
        case .writeDescriptor(let address, let handle, let data):
            writer.write(address, handle)
            writer.writeData(data, field: 3)
            return 77
        case .written(let address, let handle):
            writer.write(address, handle)
            return 83
        case .notify(let address, let handle, let isOn):
            writer.write(address, handle)
            writer.writeNonZero(isOn ? 1 : 0, field: 3)
            return 78
        case .notifySet(let address, let handle):
            writer.write(address, handle)
            return 84
        case .value(let address, let handle, let data):
            writer.write(address, handle)
            writer.writeData(data, field: 3)
            return 79
        case .failed(let address, let handle, let error):
            writer.write(address, handle)
            writer.writeNonZero(error, field: 3)
            return 82
        default: return 0
        }
    }
}

extension WireWriter {
    /// Writes a number that is not 0.
    fileprivate mutating func writeNonZero<Number: WireScalar & BinaryInteger>(_ number: Number, field: UInt32) {
        if number != 0 { write(number, field: field) }
    }

    /// Writes a number that is not 0.
    fileprivate mutating func writeNonZero(_ number: UInt32, field: UInt32) {
        if number != 0 { write(number, field: field) }
    }

    /// Writes text that is not empty.
    fileprivate mutating func writeText(_ text: String, field: UInt32) {
        if !text.isEmpty { write(text, field: field) }
    }

    /// Writes bytes that are not empty.
    fileprivate mutating func writeData(_ bytes: [UInt8], field: UInt32) {
        if !bytes.isEmpty { write(bytes, field: field) }
    }

    /// Writes the two first fields of a message about a handle.
    fileprivate mutating func write(_ address: UInt64, _ handle: UInt32) {
        writeNonZero(address, field: 1)
        writeNonZero(handle, field: 2)
    }

    fileprivate mutating func write(_ advertisement: RawAdvertisement) {
        writeMessage(field: 1) { writer in
            writer.writeNonZero(advertisement.address, field: 1)
            writer.writeNonZero(Self.zigZag(advertisement.rssi), field: 2)
            writer.writeNonZero(advertisement.addressType, field: 3)
            writer.writeData(Array(advertisement.data), field: 4)
        }
    }

    fileprivate mutating func write(_ service: ProxyService) {
        writeMessage(field: 2) { writer in
            writer.write(service.id)
            writer.writeNonZero(service.handle, field: 2)
            for characteristic in service.characteristics {
                writer.writeMessage(field: 3) { writer in
                    writer.write(characteristic.id)
                    writer.writeNonZero(characteristic.handle, field: 2)
                    writer.writeNonZero(characteristic.properties, field: 3)
                    for descriptor in characteristic.descriptors {
                        writer.writeMessage(field: 4) { writer in
                            writer.write(descriptor.id)
                            writer.writeNonZero(descriptor.handle, field: 2)
                        }
                    }
                }
            }
        }
    }

    private mutating func write(_ id: ProxyService.ID) {
        write(id.high, field: 1)
        write(id.low, field: 1)
    }

    /// The encoding of `sint32`.
    private static func zigZag(_ number: Int32) -> UInt32 {
        UInt32(bitPattern: (number << 1) ^ (number >> 31))
    }
}
