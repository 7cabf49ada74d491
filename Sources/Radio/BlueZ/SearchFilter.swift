import Time

/// Whether discovery is filtered by the service, which keeps the devices of others out of bluetoothd and off the bus.
///
/// bluetoothd 5.87 crashes when it receives a device that a filter by service has to be compared with, and every restart ends the
/// links of all devices. Other filters work. Source: BlueZ 5.87, `is_filter_match` in `src/adapter.c`; bluez issue 2282.
struct SearchFilter {
    /// An end of bluetoothd this long after the start of a filtered discovery, or earlier, is attributed to it.
    static let window = Duration.seconds(10)
    /// The number of such ends in a row after which the filter is left out. One may have another cause.
    static let enough = 2

    private var ends = 0
    private var startedAt: Instant?

    /// Whether to filter by the service.
    var isUsed: Bool { ends < Self.enough }

    /// Handles the start of a discovery.
    mutating func begins(at now: Instant) {
        startedAt = isUsed ? now : nil
    }

    /// Handles a received device: bluetoothd has survived its comparison.
    mutating func survived() {
        guard startedAt != nil else { return }
        startedAt = nil
        ends = 0
    }

    /// Handles the end of discovery.
    mutating func stopped() {
        startedAt = nil
    }

    /// Handles the end of bluetoothd.
    ///
    /// - Returns: whether the filter is left out from now on.
    mutating func serviceEnded(at now: Instant) -> Bool {
        defer { startedAt = nil }
        guard let startedAt, now - startedAt < Self.window else { return false }
        ends += 1
        return ends == Self.enough
    }
}
