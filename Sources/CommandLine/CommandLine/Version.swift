/// The version of the product. `deploy/package` compares it with `deploy/debian/changelog`.
public enum Version {
    /// `major.minor.patch`, as `--version` prints it and `bridge/<instance>/info` publishes it.
    public static let current = "0.1.0"
}
