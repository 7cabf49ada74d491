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
    /// The manufacturer's serial number, such as `0-07-9324FLHBK0003R-1903`; nil until the component has reported
    /// it.
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
