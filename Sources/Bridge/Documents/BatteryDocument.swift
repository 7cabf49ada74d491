import JacquardProtocol

/// `T/battery`, and the data of the result of `battery/get`.
struct BatteryDocument: Encodable {
    @OrNull var level: UInt8?
    @OrNull var charging: Bool?
    @OrNull var time: String?

    /// All values are null until the tag has reported its battery.
    init(_ battery: Timestamped<BatteryStatus>?) {
        level = battery?.value.level
        charging = battery?.value.isCharging
        time = battery?.at.text
    }
}
