import JacquardProtocol

/// A kind of tag, by what users meet.
enum TagProfile: String, CaseIterable, Sendable {
    /// An ordinary one.
    case stock
    /// With firmware before 1.43, whose command characteristic is written without response only.
    case old
    /// With firmware that the SDK refuses.
    case badFirmware = "bad-firmware"
    /// That advertises like a tag and has none of its characteristics.
    case noService = "no-service"
    /// That reports its battery only when it is asked.
    case silentBattery = "silent-battery"

    /// The reported firmware version.
    var firmware: FirmwareVersion {
        switch self {
        case .stock, .noService, .silentBattery: FirmwareVersion(1, 96, 0)
        case .old: FirmwareVersion(1, 42, 0)
        case .badFirmware: FirmwareVersion(1, 1, 0)
        }
    }
}
