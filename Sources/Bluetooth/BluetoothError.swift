/// Why a request to a central failed.
public struct BluetoothError: Error, Hashable, Sendable {
    /// What the caller can make of it.
    public enum Code: Hashable, Sendable {
        /// The stack does not know the device.
        case notFound
        /// Bluetooth is off.
        case poweredOff
        /// The link could not be made, or broke.
        case connectionFailed
        /// The attempt was given up because we asked for it.
        case canceled
        /// No answer from the stack in time.
        case timeout
        /// The device has lost its bond with this host, or refuses to make one.
        case authenticationFailed
        /// The device does not offer the service.
        case serviceMissing
        /// A characteristic is missing.
        case characteristicMissing
        /// The device does not permit this access; for a write with response, try without.
        case notPermitted
        /// The stack cannot take the request at the moment, and has sent nothing.
        case busy
        /// Another client of the stack on this host uses the device.
        case inUse
        /// The stack keeps a subscription for a client that does not exist, and accepts no other before its restart.
        case subscriptionStuck
        /// Anything else; the name tells.
        case other
    }

    /// What the caller can make of it.
    public let code: Code
    /// The stack's own name for it, such as `org.bluez.Error.Failed`; empty when the stack said nothing.
    public let name: String
    /// The stack's own words.
    public let text: String

    /// Describes an error.
    public init(_ code: Code, name: String = "", text: String) {
        self.code = code
        self.name = name
        self.text = text
    }
}
