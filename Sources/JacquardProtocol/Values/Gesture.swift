/// What the woven lines felt. A number without a name here is passed on, so that no firmware's gesture is lost.
///
/// Source: `InferenceData.event`; JacquardSDKiOS, `Gesture.swift`.
public struct Gesture: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Takes any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Nothing recognised.
    public static let noInference = Gesture(rawValue: 0)
    /// Two taps.
    public static let doubleTap = Gesture(rawValue: 1)
    /// A stroke towards the body.
    public static let brushIn = Gesture(rawValue: 2)
    /// A stroke away from the body.
    public static let brushOut = Gesture(rawValue: 3)
    /// The flat hand laid on the lines; the SDK shows it as "Cover".
    public static let shortCover = Gesture(rawValue: 7)
    /// A stroke upwards.
    public static let brushUp = Gesture(rawValue: 13)
    /// A stroke downwards.
    public static let brushDown = Gesture(rawValue: 14)

    /// The gestures that a user can make, in the order of their numbers.
    public static let known: [Gesture] = [.doubleTap, .brushIn, .brushOut, .shortCover, .brushUp, .brushDown]
}
