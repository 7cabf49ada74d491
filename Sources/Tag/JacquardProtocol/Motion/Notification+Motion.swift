/// The notifications about modules and motion data, as a simulated tag sends them.
extension Notification {
    /// Reports a session of a list; nil if there is none.
    public static func session(
        _ session: StoredMotionSession?, index: UInt32, total: UInt32
    ) -> Notification {
        var notification = Notification(domain: .motion, opcode: .motionSessionList)
        notification.session = MotionSessionEntry(session, index: index, total: total)
        return notification
    }

    /// Reports an error of motion data, or the end of erasing.
    public static func status(_ status: MotionStatus) -> Notification {
        var notification = Notification(domain: .base, opcode: .error, componentID: Component.tagComponentID)
        notification.error = ErrorNotification(subsystem: Domain.motion.rawValue, errorCode: status.rawValue)
        return notification
    }

    /// Reports the outcome of loading a module.
    public static func loaded(_ module: ModuleDescriptor, status: Status) -> Notification {
        var notification = Notification(
            domain: .base, opcode: .loadModule, componentID: Component.tagComponentID)
        notification.module = LoadModuleNotification(status: status, module: module)
        return notification
    }
}

extension Notification {
    /// Whether it may end a command about modules or motion data.
    var isAboutMotion: Bool { module != nil || session != nil || error != nil }

    /// A session of a list.
    public var session: MotionSessionEntry? {
        get { self[ExtensionNumber.sessionList] }
        set { self[ExtensionNumber.sessionList] = newValue }
    }

    /// The outcome of loading a module.
    public var module: LoadModuleNotification? {
        get { self[ExtensionNumber.loadModule] }
        set { self[ExtensionNumber.loadModule] = newValue }
    }
}
