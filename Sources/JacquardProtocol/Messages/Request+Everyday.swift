/// The requests of a connection's beginning.
extension Request {
    /// Asks for the protocol versions that the tag speaks; answered by ``Response/Body/hello(_:)``.
    public static func hello() -> Request {
        Request(domain: .base, opcode: .hello)
    }

    /// Chooses the version of the protocol; answered by ``Response/Body/begin(_:)``.
    public static func begin(protocolVersion: UInt32 = HelloResponse.supportedProtocol) -> Request {
        Request(
            domain: .base, opcode: .begin, body: .begin(BeginRequest(protocolVersion: protocolVersion)))
    }

    /// Asks what the tag is; answered by ``Response/Body/deviceInfo(_:)``.
    public static func deviceInformationOfTag() -> Request {
        deviceInformation(.base, .deviceInfo, Component.tagComponentID)
    }

    /// Asks what attached gear is; answered by ``Response/Body/deviceInfo(_:)``.
    public static func deviceInformation(ofGear componentID: UInt32) -> Request {
        deviceInformation(.gear, .gearInfo, componentID)
    }

    /// Sets how many notifications the tag may hold back, see ``TouchMode/notificationQueueDepth``.
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

/// The requests to gear and tag that a user causes.
extension Request {
    /// Switches what gear reports; answered by ``Response/Body/dataChannel(_:)``.
    ///
    /// It is only half of the change: the mode's ``notificationQueueDepth(_:)`` goes behind it.
    public static func touchMode(_ mode: TouchMode, component componentID: UInt32) -> Request {
        Request(
            domain: .gear, opcode: .gearData, componentID: componentID,
            body: .dataChannel(DataChannelRequest(mode)))
    }

    /// Asks for the battery; answered by ``Response/Body/batteryStatus(_:)``.
    public static func batteryStatus() -> Request {
        let body = BatteryStatusRequest(readsLevel: true, readsChargingStatus: true)
        return Request(domain: .base, opcode: .batteryStatus, body: .batteryStatus(body))
    }

    /// Plays on the LED of the tag; answered by a status alone.
    public static func playLEDOnTag(_ pattern: LEDPattern) -> Request {
        Request(
            domain: .base, opcode: .ledPattern, componentID: Component.tagComponentID,
            body: .ledPattern(LEDPatternRequest(pattern)))
    }

    /// Plays on the LED of attached gear; answered by a status alone.
    public static func playLED(_ pattern: LEDPattern, onGear componentID: UInt32) -> Request {
        Request(
            domain: .gear, opcode: .gearLED, componentID: componentID,
            body: .ledPattern(LEDPatternRequest(pattern)))
    }

    /// Plays on the motor of attached gear; success is the status, with ``Response/Body/haptic(_:)`` or without.
    public static func playHaptic(_ pattern: HapticPattern, component componentID: UInt32) -> Request {
        Request(
            domain: .gear, opcode: .gearHaptic, componentID: componentID, body: .haptic(HapticRequest(pattern)))
    }
}

/// The requests that change a tag for longer than a connection.
extension Request {
    /// Gives the tag a name, which it advertises after its next disconnection.
    ///
    /// The name has 1 to 21 bytes of UTF-8, see ``BLEConfiguration/nameByteCounts``; that is not checked here.
    /// Answered by ``Response/Body/config(_:)`` as every change of the configuration.
    public static func rename(_ name: String) -> Request {
        var configuration = BLEConfiguration()
        configuration.customAdvertisedName = name
        return configWrite(TagConfiguration(ble: configuration))
    }

    /// Asks the tag to drop the link after some seconds, 0 being now; answered by a status alone.
    ///
    /// It comes back by itself, at once or only after it was moved.
    public static func disconnect(
        timeoutSeconds: UInt32 = 0, reconnectOnlyOnWakeOnMotion: Bool = false
    ) -> Request {
        let body = BLEDisconnectRequest(
            timeoutSeconds: timeoutSeconds, reconnectOnlyOnWakeOnMotion: reconnectOnlyOnWakeOnMotion)
        return Request(domain: .base, opcode: .requestDisconnect, body: .bleDisconnect(body))
    }

    /// Asks how the tag is set in every respect; answered by ``Response/Body/config(_:)``.
    public static func configRead() -> Request {
        let body = ConfigReadRequest(readsIMU: true, readsBLE: true, readsWakeOnMotion: true)
        return Request(
            domain: .base, opcode: .configRead, componentID: Component.tagComponentID, body: .configRead(body))
    }

    /// Changes how the tag is set; answered by ``Response/Body/config(_:)`` with all of it, where the tag says more
    /// than a status.
    public static func configWrite(_ configuration: TagConfiguration) -> Request {
        Request(domain: .base, opcode: .configWrite, body: .configWrite(configuration))
    }

    /// Reads an element of the store that belongs to a vendor's product, by default to the tag.
    ///
    /// Answered by ``Response/Body/configGet(_:)``.
    public static func configGet(
        vendor: JacquardIdentifier = .google, product: JacquardIdentifier = .tag, key: String
    ) -> Request {
        let body = ConfigGetRequest(vendorID: vendor, productID: product, key: key)
        return Request(domain: .base, opcode: .configGet, body: .configGet(body))
    }

    /// Writes an element of the store that belongs to a vendor's product, by default to the tag.
    ///
    /// Answered by a status alone.
    public static func configSet(
        vendor: JacquardIdentifier = .google, product: JacquardIdentifier = .tag, _ element: ConfigElement
    ) -> Request {
        let body = ConfigSetRequest(vendorID: vendor, productID: product, element: element)
        return Request(domain: .base, opcode: .configSet, body: .configSet(body))
    }
}
