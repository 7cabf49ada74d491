import JacquardProtocol

/// The requests that change how the tag is set.
extension Firmware {
    /// Merges the given fields; the answer holds all of the radio's settings.
    ///
    /// The first one of a session makes the tag report its battery and its gear.
    mutating func configure(_ request: TagConfiguration) -> FirmwareReply {
        let newName = request.ble?.customAdvertisedName
        if let newName, !BLEConfiguration.nameByteCounts.contains(newName.utf8.count) {
            // A real tag refused a name so: with an empty body.
            return .refused(.badParameter, body: .config(TagConfiguration()))
        }
        configuration.merge(request)
        var answer = TagConfiguration()
        answer.ble = configuration.ble
        var reply = FirmwareReply.with(.config(answer), effect: newName.map(TagEffect.renamed))
        if link?.isConfigured == false {
            link?.isConfigured = true
            reply.afterwards = announcedBattery + (gear.map { notify($0.notification) } ?? []) + unknownNotification
        }
        return reply
    }

    /// A notification of a domain and an opcode that no client knows.
    private var unknownNotification: [FirmwareAction] {
        guard faults.notifiesUnknown else { return [] }
        return notify(Notification(domain: Domain(rawValue: 7), opcode: Opcode(rawValue: 99), componentID: 0))
    }

    /// Keeps an element; needs a key and a value.
    mutating func store(_ request: ConfigSetRequest) -> FirmwareReply {
        guard !faults.refusesStore else { return .refused(.unsupported) }
        guard let element = request.element, let key = element.key, element.value != nil else {
            return .refused(.badParameter)
        }
        store[StoreKey(request.vendorID, request.productID, key)] = element
        return FirmwareReply(effect: .stored(element))
    }

    /// Reads an element; one that was never written comes without a value.
    func stored(_ request: ConfigGetRequest) -> FirmwareReply {
        guard let key = request.key else { return .refused(.badParameter) }
        let element = store[StoreKey(request.vendorID, request.productID, key)]
        return .with(.configGet(ConfigGetResponse(element: element ?? ConfigElement(key: key, value: nil))))
    }
}

/// The key of an element of the store.
struct StoreKey: Hashable, Sendable {
    let vendorID: JacquardIdentifier
    let productID: JacquardIdentifier
    let key: String

    init(_ vendorID: JacquardIdentifier?, _ productID: JacquardIdentifier?, _ key: String) {
        self.vendorID = vendorID ?? .google
        self.productID = productID ?? .tag
        self.key = key
    }
}

extension TagConfiguration {
    /// How a tag is set when it leaves the factory.
    ///
    /// Source: a real tag's answer to a configuration write; the rest is the schema's defaults.
    static func factory(name: String) -> TagConfiguration {
        var ble = BLEConfiguration()
        ble.customAdvertisedName = name
        ble.transmitPowerDefault = -12
        ble.transmitPowerMaximum = 0
        ble.fastAdvertisingIntervalMilliseconds = 20
        ble.fastAdvertisingDurationSeconds = 60
        ble.slowAdvertisingIntervalMilliseconds = 1285
        ble.slowAdvertisingDurationSeconds = 60
        ble.minimumConnectionInterval = 6
        ble.maximumConnectionInterval = 400
        ble.notificationQueueDepth = 14
        var configuration = TagConfiguration(ble: ble)
        configuration.imu = IMUConfiguration()
        configuration.wakeOnMotion = WakeOnMotionConfiguration()
        return configuration
    }

    /// The parts that are asked for.
    func selected(by request: ConfigReadRequest) -> TagConfiguration {
        var selection = TagConfiguration()
        if request.readsIMU == true { selection.imu = imu }
        if request.readsBLE == true { selection.ble = ble }
        if request.readsWakeOnMotion == true { selection.wakeOnMotion = wakeOnMotion }
        return selection
    }

    /// Takes over every field that is present.
    mutating func merge(_ other: TagConfiguration) {
        if let ble = other.ble { self.ble = merged(self.ble ?? BLEConfiguration(), ble, Self.bleFields) }
        if let imu = other.imu { self.imu = merged(self.imu ?? IMUConfiguration(), imu, Self.imuFields) }
        if let wakeOnMotion = other.wakeOnMotion {
            let present = self.wakeOnMotion ?? WakeOnMotionConfiguration()
            self.wakeOnMotion = merged(present, wakeOnMotion, Self.wakeOnMotionFields)
        }
    }

    private typealias Field<Part> = @Sendable (inout Part, Part) -> Void

    private func merged<Part>(_ present: Part, _ change: Part, _ fields: [Field<Part>]) -> Part {
        var result = present
        for take in fields { take(&result, change) }
        return result
    }

    private static func field<Part, Value>(
        _ path: any WritableKeyPath<Part, Value?> & Sendable
    ) -> Field<Part> {
        { present, change in
            if let value = change[keyPath: path] { present[keyPath: path] = value }
        }
    }

    private static let bleFields: [Field<BLEConfiguration>] = [
        field(\.customAdvertisedName), field(\.transmitPowerDefault), field(\.transmitPowerMaximum),
        field(\.fastAdvertisingIntervalMilliseconds), field(\.fastAdvertisingDurationSeconds),
        field(\.slowAdvertisingIntervalMilliseconds), field(\.slowAdvertisingDurationSeconds),
        field(\.minimumConnectionInterval), field(\.maximumConnectionInterval), field(\.notificationQueueDepth),
        field(\.mediumAdvertisingIntervalMilliseconds), field(\.mediumAdvertisingDurationSeconds),
    ]

    private static let imuFields: [Field<IMUConfiguration>] = [
        field(\.sensorID), field(\.accelerometerLowPowerMode), field(\.accelerometerFilterMode),
        field(\.accelerometerSampleRate), field(\.accelerometerRange), field(\.gyroscopeLowPowerMode),
        field(\.gyroscopeFilterMode), field(\.gyroscopeSampleRate), field(\.gyroscopeRange),
    ]

    private static let wakeOnMotionFields: [Field<WakeOnMotionConfiguration>] = [
        field(\.isEnabled), field(\.sensitivity), field(\.motionThreshold), field(\.noMotionTimeoutMilliseconds),
        field(\.gearPowerPolicy), field(\.bleConnectionPolicy),
    ]
}
