/// The version of the product: the one place where it is written.
enum Version {
    /// `major.minor.patch`, as `--version` prints it and `bridge/<instance>/info` publishes it.
    static let current = "0.1.0"
}
