public import JacquardProtocol

/// An action that a tag's firmware requests, in this order.
public enum FirmwareAction: Equatable, Sendable {
    /// Notify one fragment, at most 61 bytes, on a characteristic that the client has subscribed to.
    case notify([UInt8], on: TagCharacteristic)
    /// Drop the link.
    case dropLink
    /// Advertise this from now on, or nothing.
    case advertise(FirmwareAdvertisement?)
    /// For the simulator's output: a client has changed something visible or audible.
    case effect(TagEffect)
}

/// A command of the client that a person near the tag would notice.
public enum TagEffect: Equatable, Sendable {
    /// To play on its LED or on that of its gear.
    case led(LEDPattern, on: TagCommand.Target)
    /// To play on its gear's motor.
    case haptic(HapticPattern)
    /// To be called so.
    case renamed(String)
    /// To report gestures, or touches.
    case touchMode(TouchMode)
    /// To keep an element in its store.
    case stored(ConfigElement)
    /// To drop the link, in so many seconds.
    case disconnect(seconds: UInt32, onlyMovementWakes: Bool)
    /// A replay has no such request in its recording; the tag answers as any simulated one.
    case unrecorded(Request)
}

/// Why a tag cannot do what a person wants of it; a sentence.
public struct FirmwareError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence, without a full stop.
    public let description: String

    /// Creates an error.
    public init(_ description: String) {
        self.description = description
    }
}

/// The advertisement of a tag, together with its scan response.
public struct FirmwareAdvertisement: Hashable, Sendable {
    /// The local name.
    public let name: String
    /// The pairing serial in its six-bit code, behind the company identifier.
    public let manufacturerData: [UInt8]

    /// Services in lower case.
    public static let services = [JacquardService.uuid]
    /// The company whose data it is.
    public static let company = PairingSerial.companyIdentifier

    /// Describes an advertisement.
    public init(name: String, manufacturerData: [UInt8]) {
        self.name = name
        self.manufacturerData = manufacturerData
    }
}
