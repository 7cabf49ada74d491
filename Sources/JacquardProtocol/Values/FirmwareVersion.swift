/// The version of a tag's or gear's firmware.
///
/// Source: protocol article, "Versions"; fields 5 to 7 of `DeviceInfoResponse`.
public struct FirmwareVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// First part.
    public let major: UInt32
    /// Second part.
    public let minor: UInt32
    /// Third part; the wire calls it `point`.
    public let micro: UInt32

    /// Puts the three parts together.
    public init(_ major: UInt32, _ minor: UInt32, _ micro: UInt32) {
        self.major = major
        self.minor = minor
        self.micro = micro
    }

    /// `1.2.3`.
    public var description: String { "\(major).\(minor).\(micro)" }

    /// Whether the SDK refuses this version and wants it updated before use: 1.0.6 and 1.1.0.
    ///
    /// The bridge connects such a tag and logs it. Source: JacquardSDKiOS, `TagFirmwareUpdate`.
    public var isKnownBad: Bool { Self.knownBad.contains(self) }

    private static let knownBad: Set<FirmwareVersion> = [FirmwareVersion(1, 0, 6), FirmwareVersion(1, 1, 0)]

    /// Major, minor, micro, in this order.
    public static func < (left: FirmwareVersion, right: FirmwareVersion) -> Bool {
        (left.major, left.minor, left.micro) < (right.major, right.minor, right.micro)
    }
}
