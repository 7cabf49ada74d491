import JacquardProtocol

/// The messages of the tag and the gear of these tests.
enum SampleTag {
    static let hello = Response.Body.hello(
        HelloResponse(protocolMinimum: 2, protocolMaximum: 2, vendor: "Google Inc.", model: "UJT"))
    static let begin = Response.Body.begin(BeginResponse())

    static let battery = BatteryStatus(level: 87, isCharging: false)

    static let information: DeviceInfoResponse = {
        var information = DeviceInfoResponse(vendor: "Google Inc.", model: "UJT", revision: 4, uuid: "tag-1")
        information.firmware = FirmwareVersion(1, 96, 0)
        information.vendorID = .google
        // Not the number of every tag, so that it shows whether it is used.
        information.productID = JacquardIdentifier(rawValue: 7)
        return information
    }()

    /// The whole configuration, as a real tag answers each change of it.
    static let configuration: Response.Body = {
        var configuration = BLEConfiguration()
        configuration.customAdvertisedName = "Desk"
        configuration.notificationQueueDepth = 14
        return .config(TagConfiguration(ble: configuration))
    }()

    /// A Patch B0, which can do everything, attached under a number.
    static func gear(_ componentID: UInt32 = 101) -> AttachedNotification {
        AttachedNotification(
            vendorID: .google, productID: JacquardIdentifier(rawValue: 0x092F_41AB), componentID: componentID)
    }

    /// A jacket, which has no LED.
    static let jacket = AttachedNotification(
        vendorID: JacquardIdentifier(rawValue: 0x74A8_CE54), productID: JacquardIdentifier(rawValue: 0x8A66_50F4),
        componentID: 101)

    /// Gear that the catalogue does not know.
    static let unknownGear = AttachedNotification(
        vendorID: JacquardIdentifier(rawValue: 1), productID: JacquardIdentifier(rawValue: 2), componentID: 101)

    static let gearInformation: DeviceInfoResponse = {
        var information = DeviceInfoResponse(vendor: "", model: "", revision: 1, uuid: "gear-1")
        information.firmware = FirmwareVersion(2, 0, 1)
        return information
    }()

    /// The gear before and after its device information is received.
    static func component(_ notification: AttachedNotification = gear(), isComplete: Bool = false) -> Component? {
        guard var component = notification.gear(in: .builtIn), isComplete else {
            return notification.gear(in: .builtIn)
        }
        component.version = gearInformation.firmware
        component.uuid = gearInformation.uuid
        return component
    }

    /// The error of a link that breaks.
    static let linkError = TagConnectionError(
        .bluetoothConnectionError, "the link was lost", stackName: "org.bluez.Error.Failed")
    /// The error of a tag that has forgotten this host.
    static let bondError = TagConnectionError(.peerRemovedPairingInfo, "authentication failed")
}
