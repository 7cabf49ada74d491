import Glibc

/// The limit of open descriptors.
enum DescriptorLimit {
    /// Descriptors of loop, bus, broker, log, state and lock, including temporary ones during reconnects.
    static let base = 25
    /// BlueZ passes one for each notifying characteristic, and one for writes.
    static let perTag = 4

    /// Raises the soft limit to the hard limit. Large descriptor numbers cause no problems here.
    ///
    /// - Returns: the new limit.
    static func raise() -> UInt {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit.rlim_cur
    }

    /// The warning about a low limit; nil if the limit is sufficient.
    static func complaint(about limit: UInt, tags: Int) -> String? {
        let need = base + perTag * tags
        guard limit < UInt(need) else { return nil }
        return "\(limit) open files are allowed, and \(tags) tags need \(need), else some are slower: raise LimitNOFILE"
    }
}
