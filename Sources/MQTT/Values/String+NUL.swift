internal import Glibc

extension String {
    /// Whether C would see the beginning only.
    var containsNUL: Bool { withCString { strlen($0) } != utf8.count }
}
