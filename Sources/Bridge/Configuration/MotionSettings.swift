extension Settings {
    /// Data of the motion sensor.
    public struct Motion: Hashable, Sendable {
        /// The folder of downloaded sessions; nil: none can be downloaded.
        public var folder: String?
        /// The most that the folder holds, in MiB.
        public var most = 256
        /// After which time an unused module is deactivated.
        public var idle: Duration = .seconds(600)
    }

    /// The rows of `imu` and `raw`.
    static var motionKeys: [ConfigurationKey<Settings>] {
        [
            .section("imu", "Data of the motion sensor."),
            ConfigurationKey(
                "imu.folder", \.motion.folder, .folder, .settings,
                "The folder for recorded sessions, which \"imu download\" stores. Default: none."),
            ConfigurationKey(
                "imu.most_mb", \.motion.most, .integer(1...65_536), .settings,
                "The most that the folder holds, in MiB."),
            ConfigurationKey(
                "imu.idle_s", \.motion.idle, .wholeSeconds(10...86_400), .settings,
                """
                After which time an unused motion module is deactivated, in seconds: it empties the battery, and motion \
                does not wake the tag.
                """),
            ConfigurationKey(
                "raw", \.allowsRawData, .boolean, .settings,
                """
                true: administrators may read and write the raw data of tags by "raw/set", to find out what a tag does.
                """),
        ]
    }
}
