public import JacquardProtocol

/// The properties that make one simulated tag different from the next, and never change while it lives.
public struct FirmwareIdentity: Hashable, Sendable {
    /// The four characters that are printed on it.
    public let serial: PairingSerial
    /// The reported firmware version. 1.0.6 and 1.1.0 have known defects.
    public var firmware = FirmwareVersion(1, 96, 0)

    /// A tag with an ordinary firmware.
    public init(serial: PairingSerial) {
        self.serial = serial
    }

    /// The name before anybody has renamed it, such as `Jacquard-003R`.
    ///
    /// Source: a real tag's configuration answer.
    public var factoryName: String { "Jacquard-" + serial.description }

    /// The long serial number, such as `0-07-9324FLHBK0003R-1903` for `003R`.
    ///
    /// Source: the device information of a real tag; the characters before the last group are the pairing serial.
    public var uuid: String { "0-07-9324FLHBK0\(serial)-1903" }

    /// How it answers hello and device information.
    ///
    /// Source: real answers of the SDKs' test fixtures.
    static let vendor = "Google Inc."
    static let model = "UJT"
    static let revision: UInt32 = 4
    static let bootloader = FirmwareVersion(1, 0, 0)

    /// The only loadable module: the one that collects motion data. It is not enabled.
    ///
    /// Source: JacquardSDKiOS, the module of its motion data feature. The version is of no known tag.
    static let motionModule = {
        var module = ModuleDescriptor()
        module.name = "IMUModule"
        module.vendorID = .google
        module.productID = JacquardIdentifier(rawValue: 0xEF3E_5B88)
        module.moduleID = JacquardIdentifier(rawValue: 0x3D0B_E753)
        module.version = FirmwareVersion(1, 0, 0)
        module.isEnabled = false
        return module
    }()
}
