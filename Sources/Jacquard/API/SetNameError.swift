public import JacquardProtocol

/// Why a tag has not got its new name. Source: JacquardSDKiOS, `SetNameError`.
public enum SetNameError: Error, Hashable, Sendable {
    /// The name is empty, longer than 21 bytes of UTF-8, or the present one; nothing was sent.
    case invalidParameter
    /// The tag did not carry it out, or nobody knows whether it did.
    case failed(TagCommandError)
}
