/// The notifications that a tag sends every day, as a simulated one makes them.
extension Notification {
    /// Tells the battery.
    public static func batteryStatus(_ status: BatteryStatus) -> Notification {
        var notification = Notification(
            domain: .base, opcode: .batteryStatus, componentID: Component.tagComponentID)
        notification.batteryStatus = BatteryStatusReport(status)
        return notification
    }

    /// Tells that gear was attached, or with an empty body that none is.
    public static func attached(_ body: AttachedNotification) -> Notification {
        var notification = Notification(domain: .base, opcode: .attached, componentID: Component.tagComponentID)
        notification.attached = body
        return notification
    }

    /// Tells what gear felt.
    public static func dataChannel(_ body: DataChannelNotification, component componentID: UInt32) -> Notification {
        var notification = Notification(domain: .gear, opcode: .gearData, componentID: componentID)
        notification.dataChannel = body
        return notification
    }
}
