/// The requests at the start of a connection.
extension Request {
    /// Reads the protocol versions that the tag supports. Response: ``Response/Body/hello(_:)``.
    public static func hello() -> Request {
        Request(domain: .base, opcode: .hello)
    }

    /// Chooses the version of the protocol. Response: ``Response/Body/begin(_:)``.
    public static func begin(protocolVersion: UInt32 = HelloResponse.supportedProtocol) -> Request {
        Request(
            domain: .base, opcode: .begin, body: .begin(BeginRequest(protocolVersion: protocolVersion)))
    }

    /// Reads what the tag is. Response: ``Response/Body/deviceInfo(_:)``.
    public static func deviceInformationOfTag() -> Request {
        deviceInformation(.base, .deviceInfo, Component.tagComponentID)
    }

    /// Reads what attached gear is. Response: ``Response/Body/deviceInfo(_:)``.
    public static func deviceInformation(ofGear componentID: UInt32) -> Request {
        deviceInformation(.gear, .gearInfo, componentID)
    }

    /// Sets how many notifications the tag may queue, see ``TouchMode/notificationQueueDepth``.
    public static func notificationQueueDepth(_ depth: UInt32) -> Request {
        var configuration = BLEConfiguration()
        configuration.notificationQueueDepth = depth
        return configWrite(TagConfiguration(ble: configuration))
    }

    private static func deviceInformation(_ domain: Domain, _ opcode: Opcode, _ componentID: UInt32) -> Request {
        Request(
            domain: domain, opcode: opcode, componentID: componentID,
            body: .deviceInfo(DeviceInfoRequest(component: componentID)))
    }
}

/// The requests behind a user's commands to tag and gear.
extension Request {
    /// Chooses what gear reports. Response: ``Response/Body/dataChannel(_:)``.
    ///
    /// This is only half of the change: send the mode's ``notificationQueueDepth(_:)`` after it.
    public static func touchMode(_ mode: TouchMode, component componentID: UInt32) -> Request {
        Request(
            domain: .gear, opcode: .gearData, componentID: componentID,
            body: .dataChannel(DataChannelRequest(mode)))
    }

    /// Reads the battery. Response: ``Response/Body/batteryStatus(_:)``.
    public static func batteryStatus() -> Request {
        let body = BatteryStatusRequest(readsLevel: true, readsChargingStatus: true)
        return Request(domain: .base, opcode: .batteryStatus, body: .batteryStatus(body))
    }

    /// Lists the tag's loadable modules. Response: ``Response/Body/modules(_:)``.
    public static func listModules() -> Request {
        Request(domain: .base, opcode: .listModules)
    }

    /// Plays on the tag's LED. Response: a status without a body.
    public static func playLEDOnTag(_ pattern: LEDPattern) -> Request {
        Request(
            domain: .base, opcode: .ledPattern, componentID: Component.tagComponentID,
            body: .ledPattern(LEDPatternRequest(pattern)))
    }

    /// Plays on the LED of attached gear. Response: a status without a body.
    public static func playLED(_ pattern: LEDPattern, onGear componentID: UInt32) -> Request {
        Request(
            domain: .gear, opcode: .gearLED, componentID: componentID,
            body: .ledPattern(LEDPatternRequest(pattern)))
    }

    /// Plays on the motor of attached gear. Response: a status, with or without ``Response/Body/haptic(_:)``.
    public static func playHaptic(_ pattern: HapticPattern, component componentID: UInt32) -> Request {
        Request(
            domain: .gear, opcode: .gearHaptic, componentID: componentID, body: .haptic(HapticRequest(pattern)))
    }
}

/// The requests whose effect outlasts the connection.
extension Request {
    /// Renames the tag. It advertises the name after its next disconnection.
    ///
    /// The caller checks the length: 1 to 21 bytes of UTF-8, see ``BLEConfiguration/nameByteCounts``. Response:
    /// ``Response/Body/config(_:)``, as for every change of the configuration.
    public static func rename(_ name: String) -> Request {
        var configuration = BLEConfiguration()
        configuration.customAdvertisedName = name
        return configWrite(TagConfiguration(ble: configuration))
    }

    /// Makes the tag drop the link after some seconds; 0 is at once. Response: a status without a body.
    ///
    /// The tag reconnects by itself, at once or only after it was moved.
    public static func disconnect(
        timeoutSeconds: UInt32 = 0, reconnectOnlyOnWakeOnMotion: Bool = false
    ) -> Request {
        let body = BLEDisconnectRequest(
            timeoutSeconds: timeoutSeconds, reconnectOnlyOnWakeOnMotion: reconnectOnlyOnWakeOnMotion)
        return Request(domain: .base, opcode: .requestDisconnect, body: .bleDisconnect(body))
    }

    /// Reads the tag's whole configuration. Response: ``Response/Body/config(_:)``.
    public static func configRead() -> Request {
        let body = ConfigReadRequest(readsIMU: true, readsBLE: true, readsWakeOnMotion: true)
        return Request(
            domain: .base, opcode: .configRead, componentID: Component.tagComponentID, body: .configRead(body))
    }

    /// Changes the tag's configuration. Response: ``Response/Body/config(_:)`` with all of it, or a status only.
    public static func configWrite(_ configuration: TagConfiguration) -> Request {
        Request(domain: .base, opcode: .configWrite, body: .configWrite(configuration))
    }

    /// Reads an element of the key-value store of a vendor's product, by default the tag's.
    ///
    /// Response: ``Response/Body/configGet(_:)``.
    public static func configGet(
        vendor: JacquardIdentifier = .google, product: JacquardIdentifier = .tag, key: String
    ) -> Request {
        let body = ConfigGetRequest(vendorID: vendor, productID: product, key: key)
        return Request(domain: .base, opcode: .configGet, body: .configGet(body))
    }

    /// Writes an element of the key-value store of a vendor's product, by default the tag's.
    ///
    /// Response: a status without a body.
    public static func configSet(
        vendor: JacquardIdentifier = .google, product: JacquardIdentifier = .tag, _ element: ConfigElement
    ) -> Request {
        let body = ConfigSetRequest(vendorID: vendor, productID: product, element: element)
        return Request(domain: .base, opcode: .configSet, body: .configSet(body))
    }
}
