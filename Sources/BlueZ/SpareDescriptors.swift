import Glibc

/// Whether the process may spend a descriptor on a characteristic.
///
/// The last ones are needed for a new connection to the bus or the broker and for the state file. libdbus gives up its
/// connection when a message brings a descriptor for which there is no room.
enum SpareDescriptors {
    /// How many are left alone: what the program opens now and then.
    static let reserve = 8

    /// Counts the numbers that are free from the top, where the first ones are unless the process is short of them.
    ///
    /// - Parameter expected: how many are on their way already.
    /// - Returns: whether there is room for one more.
    static func areThere(beside expected: Int) -> Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
        var missing = reserve + expected + 1
        var number = CInt(clamping: limit.rlim_cur)
        while missing > 0, number > 0 {
            number -= 1
            if fcntl(number, F_GETFD) == -1 { missing -= 1 }
        }
        return missing == 0
    }
}
