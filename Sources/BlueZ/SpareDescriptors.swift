import Glibc

/// Whether the process may spend a descriptor on a characteristic.
///
/// The last ones are needed for a new connection to the bus or the broker and for the state file. libdbus gives up its
/// connection when a message brings a descriptor for which there is no room.
enum SpareDescriptors {
    /// How many are left alone: what the program opens now and then, and those of three requests on their way.
    static let reserve = 10

    /// A new descriptor has the lowest number that is free, and numbers end below the limit of getrlimit(2).
    static var areThere: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
        let lowest = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard lowest >= 0 else { return false }
        close(lowest)
        return rlim_t(lowest) + rlim_t(reserve) < limit.rlim_cur
    }
}
