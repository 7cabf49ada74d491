// The fields of each message, said once for reading and for writing.

extension ProxyMessage {
    /// A message of each type without values.
    private static let empty: [ProxyMessage] = [
        .hello(client: "", major: 0, minor: 0), .helloResponse(major: 0, minor: 0, server: "", name: ""), .disconnect,
        .disconnectResponse, .ping, .pingResponse, .deviceInfo, .deviceInfoResponse(ProxyInfo()),
        .subscribeAdvertisements(flags: 0), .unsubscribeAdvertisements, .advertisements([]), .scannerState(.idle),
        .subscribeConnectionsFree, .connectionsFree(free: 0, limit: 0, allocated: []),
        .device(0, .disconnect, addressType: nil), .connection(0, isConnected: false, mtu: 0, error: 0),
        .paired(0, isPaired: false, error: 0), .unpaired(0, isRemoved: false, error: 0),
        .setParameters(0, minimum: 0, maximum: 0, latency: 0, timeout: 0), .parametersSet(0, error: 0),
        .getServices(0), .services(0, []), .servicesDone(0), .write(0, handle: 0, withResponse: false, []),
        .writeDescriptor(0, handle: 0, []), .written(0, handle: 0), .notify(0, handle: 0, isOn: false),
        .notifySet(0, handle: 0), .value(0, handle: 0, []), .failed(0, handle: 0, error: 0),
    ]

    /// ``empty`` by their numbers.
    static let types = Dictionary(uniqueKeysWithValues: empty.map { ($0.type, $0) })

    /// Its number.
    var type: UInt32 {
        switch self {
        case .hello: 1
        case .helloResponse: 2
        case .disconnect: 5
        case .disconnectResponse: 6
        case .ping: 7
        case .pingResponse: 8
        case .deviceInfo: 9
        case .deviceInfoResponse: 10
        case .subscribeAdvertisements: 66
        case .unsubscribeAdvertisements: 87
        case .advertisements: 93
        case .scannerState: 126
        case .subscribeConnectionsFree: 80
        case .connectionsFree: 81
        case .device: 68
        case .connection: 69
        case .paired: 85
        case .unpaired: 86
        case .setParameters: 145
        case .parametersSet: 146
        case .getServices: 70
        case .services: 71
        case .servicesDone: 72
        case .write: 75
        case .writeDescriptor: 77
        case .written: 83
        case .notify: 78
        case .notifySet: 84
        case .value: 79
        case .failed: 82
        }
    }

    /// Passes each field to the operation.
    mutating func visit<Fields: ProxyFields>(_ fields: inout Fields) throws(Fields.Failure) {
        switch self {
        case .disconnect, .disconnectResponse, .ping, .pingResponse, .deviceInfo, .unsubscribeAdvertisements,
            .subscribeConnectionsFree:
            break
        case .hello(var client, var major, var minor):
            fields.scalar(1, &client)
            fields.scalar(2, &major)
            fields.scalar(3, &minor)
            self = .hello(client: client, major: major, minor: minor)
        case .helloResponse(var major, var minor, var server, var name):
            fields.scalar(1, &major)
            fields.scalar(2, &minor)
            fields.scalar(3, &server)
            fields.scalar(4, &name)
            self = .helloResponse(major: major, minor: minor, server: server, name: name)
        case .deviceInfoResponse(var info):
            fields.scalar(2, &info.name)
            fields.scalar(4, &info.version)
            var features = info.features.rawValue
            fields.scalar(15, &features)
            info.features = ProxyInfo.Features(rawValue: features)
            fields.scalar(18, &info.bluetoothAddress)
            self = .deviceInfoResponse(info)
        case .subscribeAdvertisements(var flags):
            fields.scalar(1, &flags)
            self = .subscribeAdvertisements(flags: flags)
        case .advertisements(var all):
            // With a second reference, the list would be copied for each element.
            self = .ping
            try fields.list(1, &all)
            self = .advertisements(all)
        case .scannerState(var state):
            fields.choice(1, &state)
            // Active scanning, which is also the configured mode.
            var mode: UInt32 = 1
            fields.scalar(2, &mode)
            fields.scalar(3, &mode)
            self = .scannerState(state)
        case .connectionsFree(var free, var limit, var allocated):
            self = .ping
            fields.scalar(1, &free)
            fields.scalar(2, &limit)
            try fields.numbers(3, &allocated)
            // Links that are free.
            allocated.removeAll { $0 == 0 }
            self = .connectionsFree(free: free, limit: limit, allocated: allocated)
        case .device, .connection, .paired, .unpaired, .setParameters, .parametersSet: visitLink(&fields)
        case .getServices, .services, .servicesDone, .write, .writeDescriptor, .written, .notify, .notifySet, .value,
            .failed:
            try visitAccess(&fields)
        }
    }

    private mutating func visitLink(_ fields: inout some ProxyFields) {
        switch self {
        case .device(var address, var request, var addressType):
            fields.scalar(1, &address)
            fields.choice(2, &request)
            var hasType = addressType != nil
            fields.scalar(3, &hasType)
            var type = addressType ?? 0
            fields.scalar(4, &type)
            addressType = hasType ? type : nil
            self = .device(address, request, addressType: addressType)
        case .connection(var address, var isConnected, var mtu, var error):
            fields.scalar(1, &address)
            fields.scalar(2, &isConnected)
            fields.scalar(3, &mtu)
            fields.scalar(4, &error)
            self = .connection(address, isConnected: isConnected, mtu: mtu, error: error)
        case .paired(var address, var isPaired, var error):
            fields.scalar(1, &address)
            fields.scalar(2, &isPaired)
            fields.scalar(3, &error)
            self = .paired(address, isPaired: isPaired, error: error)
        case .unpaired(var address, var isRemoved, var error):
            fields.scalar(1, &address)
            fields.scalar(2, &isRemoved)
            fields.scalar(3, &error)
            self = .unpaired(address, isRemoved: isRemoved, error: error)
        case .setParameters(var address, var minimum, var maximum, var latency, var timeout):
            fields.scalar(1, &address)
            fields.scalar(2, &minimum)
            fields.scalar(3, &maximum)
            fields.scalar(4, &latency)
            fields.scalar(5, &timeout)
            self = .setParameters(address, minimum: minimum, maximum: maximum, latency: latency, timeout: timeout)
        case .parametersSet(var address, var error):
            fields.scalar(1, &address)
            fields.scalar(2, &error)
            self = .parametersSet(address, error: error)
        default: break
        }
    }

    private mutating func visitAccess<Fields: ProxyFields>(_ fields: inout Fields) throws(Fields.Failure) {
        switch self {
        case .getServices(var address):
            fields.scalar(1, &address)
            self = .getServices(address)
        case .services(var address, var services):
            self = .ping
            fields.scalar(1, &address)
            try fields.list(2, &services)
            self = .services(address, services)
        case .servicesDone(var address):
            fields.scalar(1, &address)
            self = .servicesDone(address)
        case .write(var address, var handle, var withResponse, var value):
            fields.scalar(1, &address)
            fields.scalar(2, &handle)
            fields.scalar(3, &withResponse)
            fields.scalar(4, &value)
            self = .write(address, handle: handle, withResponse: withResponse, value)
        case .writeDescriptor(var address, var handle, var value):
            fields.scalar(1, &address)
            fields.scalar(2, &handle)
            fields.scalar(3, &value)
            self = .writeDescriptor(address, handle: handle, value)
        case .written(var address, var handle):
            fields.scalar(1, &address)
            fields.scalar(2, &handle)
            self = .written(address, handle: handle)
        case .notify(var address, var handle, var isOn):
            fields.scalar(1, &address)
            fields.scalar(2, &handle)
            fields.scalar(3, &isOn)
            self = .notify(address, handle: handle, isOn: isOn)
        case .notifySet(var address, var handle):
            fields.scalar(1, &address)
            fields.scalar(2, &handle)
            self = .notifySet(address, handle: handle)
        case .value(var address, var handle, var value):
            fields.scalar(1, &address)
            fields.scalar(2, &handle)
            fields.scalar(3, &value)
            self = .value(address, handle: handle, value)
        case .failed(var address, var handle, var error):
            fields.scalar(1, &address)
            fields.scalar(2, &handle)
            fields.scalar(3, &error)
            self = .failed(address, handle: handle, error: error)
        default: break
        }
    }
}

extension RawAdvertisement: ProxyBody {
    init() {
        self.init(address: 0, rssi: 0, addressType: 0, slice: [])
    }

    mutating func visit(_ fields: inout some ProxyFields) {
        fields.scalar(1, &address)
        fields.signed(2, &rssi)
        fields.scalar(3, &addressType)
        fields.slice(4, &data)
    }
}

extension ProxyService: ProxyBody {
    init() {
        self.init(id: ID(), handle: 0, characteristics: [])
    }

    mutating func visit<Fields: ProxyFields>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.id(&id, short: 4)
        fields.scalar(2, &handle)
        try fields.list(3, &characteristics)
    }
}

extension ProxyService.Characteristic: ProxyBody {
    init() {
        self.init(id: ProxyService.ID(), handle: 0, properties: 0, descriptors: [])
    }

    mutating func visit<Fields: ProxyFields>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.id(&id, short: 5)
        fields.scalar(2, &handle)
        fields.scalar(3, &properties)
        try fields.list(4, &descriptors)
    }
}

extension ProxyService.Descriptor: ProxyBody {
    init() {
        self.init(id: ProxyService.ID(), handle: 0)
    }

    mutating func visit<Fields: ProxyFields>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.id(&id, short: 3)
        fields.scalar(2, &handle)
    }
}

extension ProxyService.ID {
    /// No UUID.
    fileprivate init() {
        self.init(high: 0, low: 0)
    }
}

extension ProxyFields {
    /// A UUID: two numbers in field 1, or a short one.
    fileprivate mutating func id(_ id: inout ProxyService.ID, short field: UInt32) throws(Failure) {
        var parts = [id.high, id.low]
        try numbers(1, &parts)
        // Read one by one, the last two count.
        let last = parts.suffix(2)
        id = ProxyService.ID(high: last[last.startIndex], low: last[last.startIndex + 1])
        var short: UInt32 = 0
        scalar(field, &short)
        if short != 0 { id = ProxyService.ID(short: short) }
    }
}
