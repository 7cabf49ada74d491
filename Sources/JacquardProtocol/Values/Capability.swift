/// What a component can do. The numbers are those of the SDK's gear catalogue.
public enum Capability: UInt8, Hashable, Sendable, CaseIterable {
    /// It has an LED.
    case led = 0
    /// It recognises gestures.
    case gesture = 1
    /// It can stream the values of its touch lines.
    case touchDataStream = 2
    /// It has a vibration motor.
    case haptic = 3
}
