/// The tag itself, or the gear that is attached to it.
///
/// Source: JacquardSDKiOS, `Component.swift`.
public struct Component: Hashable, Sendable {
    /// 0 is the tag. Gear gets a new number each time it is attached.
    public let componentID: UInt32
    /// Vendor number and name; the name is empty for gear outside the catalogue.
    public let vendor: Name
    /// Product number and name; the name is empty for gear outside the catalogue.
    public let product: Name
    /// The capabilities; empty for gear outside the catalogue.
    public let capabilities: Set<Capability>
    /// The firmware version; nil until the component has reported it.
    public var version: FirmwareVersion?
    /// The manufacturer's serial number, such as `0-07-9324FLHBK0003R-1903`; nil until the component has reported it.
    public var uuid: String?

    /// A number and its name from the catalogue or the component.
    public struct Name: Hashable, Sendable {
        /// The number.
        public let id: JacquardIdentifier
        /// The name; empty if it is unknown.
        public let name: String

        /// Creates a name.
        public init(id: JacquardIdentifier, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// Creates a component.
    public init(
        componentID: UInt32,
        vendor: Name,
        product: Name,
        capabilities: Set<Capability>,
        version: FirmwareVersion? = nil,
        uuid: String? = nil
    ) {
        self.componentID = componentID
        self.vendor = vendor
        self.product = product
        self.capabilities = capabilities
        self.version = version
        self.uuid = uuid
    }

    /// The component number of the tag itself.
    public static let tagComponentID: UInt32 = 0
}

/// An ability of a component. The numbers are those of the SDK's gear catalogue.
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

/// A vendor, product or module number: 32 bits, shown as four lower-case hex bytes with dashes, high byte first.
///
/// `4216824082` is `fb-57-a1-12`. Upper case is accepted when parsing. Source: JacquardSDKiOS,
/// `ComponentImplementation.swift`; protocol article, "Components and gear".
public struct JacquardIdentifier: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number as it is on the wire.
    public let rawValue: UInt32

    /// Takes any number; none is reserved.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Parses exactly four groups of two hex digits, joined by dashes.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.count == 4, groups.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
            return nil
        }
        guard let number = UInt32(groups.joined(), radix: 16) else { return nil }
        rawValue = number
    }

    /// The dashed form.
    public var description: String {
        stride(from: 24, through: 0, by: -8)
            // Two digits, also of a byte below 16.
            .map { String(0x100 | rawValue >> UInt32($0) & 0xFF, radix: 16).dropFirst() }
            .joined(separator: "-")
    }

    /// Google's vendor number.
    public static let google = JacquardIdentifier(rawValue: 0x1178_30C8)
    /// The product number of the tag itself.
    public static let tag = JacquardIdentifier(rawValue: 0x283B_E7A0)
}

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
