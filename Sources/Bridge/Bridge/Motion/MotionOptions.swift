import Time

/// The settings of data of the motion sensor.
public struct MotionOptions: Hashable, Sendable {
    /// The folder of downloaded sessions; nil: none can be downloaded.
    public var folder: String?
    /// The most that the folder holds, in MiB.
    public var most = 256
    /// After which time an unused module is deactivated.
    public var idle: Duration = .seconds(600)

    /// The defaults of the contract.
    public init() {}
}

extension Motion {
    static var keys: [FeatureKey] {
        [
            FeatureKey(
                "imu", .section, "Data of the motion sensor.",
                .omitted("recordings are files for programs on a computer")),
            FeatureKey(
                "imu.folder", .folder(\.features.motion.folder),
                "The folder for recorded sessions, which \"imu download\" stores. Default: none.",
                example: (
                    "/var/lib/jacquard2mqtt/imu",
                    """
                    The folder for recorded sessions of the motion sensor, which "imu download" stores. Default: none.
                    """
                )),
            FeatureKey(
                mostKey, .integer(\.features.motion.most, 1...65_536), "The most that the folder holds, in MiB."),
            FeatureKey(
                "imu.idle_s", .seconds(\.features.motion.idle, 10...86_400),
                """
                After which time an unused motion module is deactivated, in seconds: it empties the battery, and motion \
                does not wake the tag.
                """),
        ]
    }

    static let mostKey = "imu.most_mb"
}
