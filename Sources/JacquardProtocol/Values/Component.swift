/// The tag itself or a piece of gear that it is clipped into.
///
/// Source: JacquardSDKiOS, `Component.swift`.
public struct Component: Hashable, Sendable {
    /// 0 is the tag; gear gets a new number with every attachment.
    public let componentID: UInt32
    /// Vendor number and name; the name is empty for gear outside the catalogue.
    public let vendor: Name
    /// Product number and name; the name is empty for gear outside the catalogue.
    public let product: Name
    /// What it can do; empty for gear outside the catalogue.
    public let capabilities: Set<Capability>
    /// Firmware version, nil until the component has told it.
    public var version: FirmwareVersion?
    /// Serial number of the manufacturer, such as `0-07-9324FLHBK0003R-1903`; nil until the component has told it.
    public var uuid: String?

    /// A number and the name that the catalogue or the component itself gives to it.
    public struct Name: Hashable, Sendable {
        /// The number.
        public let id: JacquardIdentifier
        /// The name, empty when nobody knows one.
        public let name: String

        /// Puts both together.
        public init(id: JacquardIdentifier, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// Describes a component.
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
