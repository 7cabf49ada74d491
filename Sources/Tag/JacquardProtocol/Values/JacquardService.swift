/// The GATT service of a tag, and what a scan looks for.
public enum JacquardService {
    /// The service's UUID in lower case, as BlueZ writes it.
    ///
    /// Source: JacquardSDKiOS, `JacquardServices`.
    public static let uuid = "d2f2bf0d-d165-445c-b0e1-2d6b642ec57b"
}

/// The characteristics of a tag's service; a device that lacks one of them is no tag.
///
/// Source: JacquardSDKiOS, `JacquardServices`; protocol article, "GATT".
public enum TagCharacteristic: String, Hashable, Sendable, CaseIterable {
    /// Requests, client to tag: write, write without response, or both.
    case command = "d2f2eabb-d165-445c-b0e1-2d6b642ec57b"
    /// Answers, tag to client: notify.
    case response = "d2f2b8d0-d165-445c-b0e1-2d6b642ec57b"
    /// Notifications, tag to client: notify.
    case notify = "d2f2b8d1-d165-445c-b0e1-2d6b642ec57b"
    /// Bulk data both ways: notify and write.
    case rawData = "d2f2b8d2-d165-445c-b0e1-2d6b642ec57b"

    /// The characteristic's UUID in lower case, as BlueZ writes it.
    public var uuid: String { rawValue }

    /// Those that a client subscribes to; it is "paired" when all of them are confirmed.
    public static let notifying: [TagCharacteristic] = [.response, .notify, .rawData]
}
