import Glibc

/// How many descriptors the process may have, and how many it needs.
enum DescriptorLimit {
    /// For loop, bus, broker, log, state and its lock, and for what a new connection to each of them takes for a moment.
    static let base = 25
    /// BlueZ gives one for each characteristic that notifies.
    static let perTag = 3

    /// Raises the limit as far as the process may: nothing here is troubled by large numbers.
    ///
    /// - Returns: the limit now.
    static func raise() -> UInt {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit.rlim_cur
    }

    /// What an operator has to know of a limit; nil when it is high enough.
    static func complaint(about limit: UInt, tags: Int) -> String? {
        let need = base + perTag * tags
        guard limit < UInt(need) else { return nil }
        return "\(limit) open files are allowed, and \(tags) tags need \(need), else some are slower: raise LimitNOFILE"
    }
}
