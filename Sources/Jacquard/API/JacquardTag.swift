public import Bluetooth

/// What all kinds of tags have. Source: JacquardSDKiOS, `JacquardTag`.
public protocol JacquardTag {
    /// The address on the air; the SDK has the UUID that iOS makes up in its place.
    var identifier: BluetoothAddress { get }
    /// What people call it; empty while nobody has heard its name.
    var displayName: String { get }
}

/// A tag that can be connected: an ``AdvertisedTag`` or a ``PreConnectedTag``. Source: JacquardSDKiOS, `ConnectableTag`.
public protocol ConnectableTag: JacquardTag, Sendable {}
