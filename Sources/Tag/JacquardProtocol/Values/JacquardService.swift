/// The GATT service of a tag, and what a scan looks for.
public enum JacquardService {
    /// The service's UUID in lower case, as BlueZ writes it.
    ///
    /// Source: JacquardSDKiOS, `JacquardServices`.
    public static let uuid = "d2f2bf0d-d165-445c-b0e1-2d6b642ec57b"
}

/// The tag of 2017, the "snap tag" of the first jacket. It has another service and another protocol, of which no description
/// exists.
public enum SnapTag {
    /// The service's UUID in lower case, as BlueZ writes it.
    public static let serviceUUID = "d45c2000-4270-a125-a25d-ee458c085001"
    /// The name that it advertises.
    public static let name = "Jacquard"
    /// Why it can't be used, as a clause.
    public static let reason = "a tag of 2017 (snap tag): this bridge supports tags of 2019 and later"
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
