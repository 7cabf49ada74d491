/// The GATT service of a tag, and what a scan looks for.
public enum JacquardService {
    /// The service's UUID in lower case, as BlueZ writes it.
    ///
    /// Source: JacquardSDKiOS, `JacquardServices`.
    public static let uuid = "d2f2bf0d-d165-445c-b0e1-2d6b642ec57b"
}
