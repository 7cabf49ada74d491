public import Bluetooth

/// A tag that was connected before. Source: JacquardSDKiOS, `PreConnectedTag`.
public struct PreConnectedTag: ConnectableTag, Hashable {
    /// Its address on the air.
    public let identifier: BluetoothAddress
    /// The name that it advertised last; empty if that is not known.
    public let displayName: String
}
