/// The version of the product. `deploy/package` holds it against that of the changelog, `deploy/debian/changelog`.
enum Version {
    /// `major.minor.patch`, as `--version` prints it and `bridge/<instance>/info` publishes it.
    static let current = "0.1.0"
}
