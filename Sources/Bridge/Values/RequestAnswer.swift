/// What came of an action with a token, other than a command to a tag.
public enum RequestAnswer: Hashable, Sendable {
    /// It was done; there is nothing more to say.
    case done
    /// The tag has a bond with this host.
    ///
    /// - Parameters:
    ///   - address: its Bluetooth address.
    ///   - name: its own name; nil when it did not tell one.
    case paired(address: String, name: String?)
    /// What the process has measured about itself.
    case measured(HealthMeasurement)
}

/// Why an action with a token was not done.
public enum RequestError: Error, Hashable, Sendable {
    /// Bluetooth is not on.
    case bluetoothUnavailable(AdapterFacts.State)
    /// The tag is not connected; nothing was sent.
    case notConnected
    /// The tag was not heard in time.
    case notFound
    /// The tag, or the Bluetooth stack for it, refused: name and text as the stack gives them.
    case refused(name: String, text: String)
    /// It did not end in time: the effect is not known.
    case timeout
    /// Something of the host failed: name and text as the system gives them.
    case failed(name: String, text: String)
}

/// How far the pairing of a tag has got.
public enum PairingStage: Hashable, Sendable {
    /// It was heard at this address.
    case found(address: String)
    /// The bond is being made.
    case pairing
    /// The link is being made.
    case connecting
}
