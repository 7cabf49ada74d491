/// The result of an action with a token, except commands to a tag.
public enum RequestAnswer: Hashable, Sendable {
    /// Success without data.
    case done
    /// The tag is bonded with this host.
    ///
    /// - Parameters:
    ///   - address: its Bluetooth address.
    ///   - name: its own name; nil if it did not report one.
    case paired(address: String, name: String?)
    /// The measurements of the process.
    case measured(HealthMeasurement)
}

/// Why an action with a token failed.
public enum RequestError: Error, Hashable, Sendable {
    /// Bluetooth is not powered on.
    case bluetoothUnavailable(AdapterFacts.State)
    /// The tag is not connected; nothing was sent.
    case notConnected
    /// The tag was not found before the timeout.
    case notFound
    /// The tag or the Bluetooth stack refused, with the stack's error name and text.
    case refused(name: String, text: String)
    /// It timed out; the effect is unknown.
    case timeout
    /// An operation of the host failed, with the system's error name and text.
    case failed(name: String, text: String)
}

/// The stages of a pairing.
public enum PairingStage: Hashable, Sendable {
    /// The tag was found at this address.
    case found(address: String)
    /// Bonding.
    case pairing
    /// Connecting.
    case connecting
}
