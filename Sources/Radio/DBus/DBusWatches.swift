internal import CDBus
internal import EventLoop

/// The watches of one connection. libdbus has one for reading and one for writing on the same descriptor: they share
/// one source with the merged events.
@LoopActor
final class DBusWatches {
    /// Called when the watches have been served: there may be something to dispatch.
    var onServed: (@LoopActor () -> Void)?

    /// Whether they are being served: ``onServed`` follows.
    private(set) var isServing = false

    private var watches: [OpaquePointer] = []
    private var source: DescriptorSource?

    /// Takes up a watch, which stays libdbus'.
    ///
    /// - Returns: false when the loop does not take the descriptor.
    func add(_ watch: OpaquePointer) -> Bool {
        watches.append(watch)
        if source == nil {
            source = try? DescriptorSource(dbus_watch_get_unix_fd(watch), for: wanted) { [unowned self] events in
                serve(events)
            }
        }
        update()
        return source != nil
    }

    /// Removes a watch.
    func remove(_ watch: OpaquePointer) {
        watches.removeAll { $0 == watch }
        if watches.isEmpty { cancel() } else { update() }
    }

    /// Updates the source after a watch was enabled or disabled.
    func update() {
        source?.events = wanted
    }

    /// Ends all waiting.
    func cancel() {
        source?.cancel()
        source = nil
        watches.removeAll()
    }

    private var wanted: DescriptorSource.Events {
        var events: DescriptorSource.Events = []
        for watch in watches where dbus_watch_get_enabled(watch) != 0 {
            let flags = dbus_watch_get_flags(watch)
            if flags & DBUS_WATCH_READABLE.rawValue != 0 { events.insert(.readable) }
            if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events.insert(.writable) }
        }
        return events
    }

    private func serve(_ events: DescriptorSource.Events) {
        var flags: UInt32 = 0
        if events.contains(.readable) { flags |= DBUS_WATCH_READABLE.rawValue }
        if events.contains(.writable) { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if events.contains(.error) { flags |= DBUS_WATCH_ERROR.rawValue }
        if events.contains(.hangUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
        let always = DBUS_WATCH_ERROR.rawValue | DBUS_WATCH_HANGUP.rawValue
        isServing = true
        // Serving one watch may remove another.
        for watch in watches where watches.contains(watch) && dbus_watch_get_enabled(watch) != 0 {
            let due = flags & (dbus_watch_get_flags(watch) | always)
            if due != 0 { dbus_watch_handle(watch, due) }
        }
        isServing = false
        onServed?()
    }
}
