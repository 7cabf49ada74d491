/// Gear was attached or detached.
///
/// Source: `AttachedNotification`, extension 109 of `Notification`.
public struct AttachedNotification: Equatable, Sendable, WireMessage {
    /// Whether gear is attached now.
    public var isAttached: Bool?
    /// The number of the gear's vendor.
    public var vendorID: JacquardIdentifier?
    /// The number of the gear's product.
    public var productID: JacquardIdentifier?
    /// The gear's component number, valid as long as it stays attached.
    public var componentID: UInt32?

    /// Creates an empty notification, which means that no gear is attached.
    public init() {}

    /// Creates a notification that this gear is attached.
    public init(vendorID: JacquardIdentifier, productID: JacquardIdentifier, componentID: UInt32) {
        isAttached = true
        self.vendorID = vendorID
        self.productID = productID
        self.componentID = componentID
    }

    /// The attached gear with the catalogue's names and capabilities.
    ///
    /// - Returns: nil for "no gear": unless the state is true and all three numbers are present, as in the SDK.
    public func gear(in catalogue: GearCatalogue) -> Component? {
        guard isAttached == true, let vendorID, let productID, let componentID else { return nil }
        return catalogue.component(vendorID: vendorID, productID: productID, componentID: componentID)
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &isAttached)
        try fields.optional(2, &vendorID)
        try fields.optional(3, &productID)
        try fields.optional(4, &componentID)
    }
}

/// Reads the battery.
///
/// Source: `BatteryStatusRequest`, extension 121 of `Request`.
public struct BatteryStatusRequest: Equatable, Sendable, WireMessage {
    /// Whether the response includes the level.
    public var readsLevel: Bool?
    /// Whether the response includes the charging status.
    public var readsChargingStatus: Bool?

    /// Creates a request for nothing.
    public init() {}

    /// Creates a request that sets both fields.
    public init(readsLevel: Bool, readsChargingStatus: Bool) {
        self.readsLevel = readsLevel
        self.readsChargingStatus = readsChargingStatus
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &readsLevel)
        try fields.optional(2, &readsChargingStatus)
    }
}

/// The tag's battery, as a response or as a notification: the schema has a message for each, with the same fields.
///
/// Source: `BatteryStatusResponse` and `BatteryStatusNotification`, extension 121 of `Response` and of `Notification`.
public struct BatteryStatusReport: Equatable, Sendable, WireMessage {
    /// Whether the battery is charging. There is no 0.
    public struct ChargingStatus: RawRepresentable, Hashable, Sendable {
        /// The number on the wire.
        public let rawValue: UInt32

        /// Accepts any number.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The battery is charging.
        public static let charging = ChargingStatus(rawValue: 1)
        /// The battery is not charging.
        public static let notCharging = ChargingStatus(rawValue: 2)
    }

    /// The level in percent.
    public var level: UInt32?
    /// Whether the battery is charging.
    public var chargingStatus: ChargingStatus?

    /// Creates an empty report.
    public init() {}

    /// Creates a report with both fields.
    public init(_ status: BatteryStatus) {
        level = UInt32(status.level)
        chargingStatus = status.isCharging ? .charging : .notCharging
    }

    /// The battery; nil unless both fields are present and the charging status is one of the two known.
    public var status: BatteryStatus? {
        guard let level, let chargingStatus else { return nil }
        switch chargingStatus {
        case .charging: return BatteryStatus(level: level, isCharging: true)
        case .notCharging: return BatteryStatus(level: level, isCharging: false)
        default: return nil
        }
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &level)
        try fields.optional(2, &chargingStatus)
    }
}

/// Makes the tag drop the link.
///
/// Source: `BleDisconnectRequest`, extension 125 of `Request`.
public struct BLEDisconnectRequest: Equatable, Sendable, WireMessage {
    /// The delay in seconds; 0 is at once.
    public var timeoutSeconds: UInt32?
    /// Whether the tag stays away until it is moved.
    public var reconnectOnlyOnWakeOnMotion: Bool?

    /// Creates an empty request.
    public init() {}

    /// Creates a request that sets both fields.
    public init(timeoutSeconds: UInt32, reconnectOnlyOnWakeOnMotion: Bool) {
        self.timeoutSeconds = timeoutSeconds
        self.reconnectOnlyOnWakeOnMotion = reconnectOnlyOnWakeOnMotion
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &timeoutSeconds)
        try fields.optional(2, &reconnectOnlyOnWakeOnMotion)
    }
}

/// The tag is about to drop the link. No SDK uses it.
///
/// Source: `DisconnectNotification`, extension 102 of `Notification`.
public struct DisconnectNotification: Equatable, Sendable {
    /// Whether the client may connect again.
    public var reconnect: Bool

    /// Creates a notification.
    public init(reconnect: Bool) {
        self.reconnect = reconnect
    }
}

extension DisconnectNotification: WireMessage {
    init() {
        self.init(reconnect: false)
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.required(1, &reconnect, "DisconnectNotification.reconnect")
    }
}

/// An error on the tag. Only data collection is known to send it, with its status as the code.
///
/// Source: `ErrorNotification`, extension 117 of `Notification`.
public struct ErrorNotification: Equatable, Sendable {
    /// The device that failed.
    public var device: UInt32?
    /// The part of the device that failed.
    public var subsystem: UInt32
    /// The error.
    public var errorCode: UInt32

    /// Creates a notification.
    public init(device: UInt32? = nil, subsystem: UInt32, errorCode: UInt32) {
        self.device = device
        self.subsystem = subsystem
        self.errorCode = errorCode
    }
}

extension ErrorNotification: WireMessage {
    init() {
        self.init(subsystem: 0, errorCode: 0)
    }

    mutating func visit<Fields: FieldVisitor>(_ fields: inout Fields) throws(Fields.Failure) {
        try fields.optional(1, &device)
        try fields.required(2, &subsystem, "ErrorNotification.subsystem")
        try fields.required(3, &errorCode, "ErrorNotification.errorcode")
    }
}

extension Notification {
    /// The tag is about to drop the link.
    public var disconnect: DisconnectNotification? {
        get { self[ExtensionNumber.disconnectNotification] }
        set { self[ExtensionNumber.disconnectNotification] = newValue }
    }
}

extension Notification {
    /// An error on the tag. Of motion data, also the end of erasing: its number is a ``MotionStatus``.
    public var error: ErrorNotification? {
        get { self[ExtensionNumber.errorNotification] }
        set { self[ExtensionNumber.errorNotification] = newValue }
    }
}
