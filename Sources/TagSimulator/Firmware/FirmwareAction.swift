public import JacquardProtocol

/// What a tag's firmware wants done, in this order.
public enum FirmwareAction: Hashable, Sendable {
    /// Notify one fragment, at most 61 bytes, on a characteristic that the client has subscribed to.
    case notify([UInt8], on: TagCharacteristic)
    /// Drop the link.
    case dropLink
    /// Advertise this from now on, or nothing.
    case advertise(Advertisement?)
    /// For the simulator's output: a client has changed something visible or audible.
    case told(Told)
}

/// A command of the client that a person near the tag would notice.
public enum Told: Hashable, Sendable {
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
}

/// Why a tag cannot do what a person wants of it; a sentence.
public struct FirmwareRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence, without a full stop.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
