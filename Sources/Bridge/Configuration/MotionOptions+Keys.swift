import Bridge

extension MotionOptions {
    /// The rows of `imu`.
    static var keys: [ConfigurationKey<Settings>] {
        [
            .section("imu", "Data of the motion sensor.").withoutOption(
                "recordings are files for programs on a computer"),
            ConfigurationKey(
                "imu.folder", \.bridge.motion.folder, .folder, .settings,
                "The folder for recorded sessions, which \"imu download\" stores. Default: none."
            ).example(
                "/var/lib/jacquard2mqtt/imu",
                comment: """
                    The folder for recorded sessions of the motion sensor, which "imu download" stores. Default: none.
                    """),
            ConfigurationKey(
                "imu.most_mb", \.bridge.motion.most, .integer(1...65_536), .settings,
                "The most that the folder holds, in MiB."),
            ConfigurationKey(
                "imu.idle_s", \.bridge.motion.idle, .wholeSeconds(10...86_400), .settings,
                """
                After which time an unused motion module is deactivated, in seconds: it empties the battery, and motion \
                does not wake the tag.
                """),
        ]
    }
}
