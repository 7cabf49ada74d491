import JSON
import JacquardProtocol
import Time

/// The facts of `T/info` besides the tag's entry and its sighting.
struct TagInfo: Sendable {
    /// The bridge's instance name.
    let bridge: String
    /// The names of the chords that the tag can make.
    var chords: [String]
    /// The device information of the tag, once received.
    var component: Component?
}

/// `T/info`.
struct TagInfoDocument: JSONRecord {
    let entry: TagEntry
    let sighting: TagSighting
    let info: TagInfo

    func addMembers(to object: inout JSONWriter) {
        let component = info.component
        object.add("address", sighting.address)
        object.add("bridge", info.bridge)
        object.add("chords", info.chords)
        object.add("firmware", component?.version?.description)
        object.add("gestures", Gesture.words)
        object.add("id", entry.id.text)
        object.add("name", entry.name ?? sighting.name)
        object.add("paired", sighting.isPaired)
        object.add("product_id", component?.product.id.description)
        object.add("serial", entry.serial)
        object.add("tag_name", sighting.name)
        object.add("uuid", component?.uuid)
        object.add("vendor_id", component?.vendor.id.description)
    }
}

/// `T/connection`.
struct ConnectionDocument: JSONRecord {
    let connection: TagConnection
    /// Since when it has this state.
    let since: Timestamp
    /// The latest facts from the Bluetooth stack.
    let sighting: TagSighting
    /// When the tag was last received; nil if not since the start.
    let lastSeen: Timestamp?
    /// Why it is connected or not, in one word for people, and as `why` prints it.
    let reason: (status: TagStatus, why: String?)
    /// Why it has failed; nil if it has not.
    let error: ConnectionErrorDocument?
    /// How the last link ended; the key is missing while presence is off.
    let ended: String??
    /// Whether the tag stays disconnected until the user connects it.
    let isHeld: Bool
    let now: Timestamp

    func addMembers(to object: inout JSONWriter) {
        let retry = connection.retryAt.map { max(.zero, $0 - now.instant) }
        object.add("adapter", sighting.adapter)
        object.add("attempt", connection.attempt)
        object.addIfPresent("ended", ended)
        object.add("error", error)
        object.add("held", isHeld)
        object.add("last_seen", lastSeen)
        object.add("of", connection.state.step == nil ? nil : TagConnection.totalSteps)
        // Omitted if the bridge has one radio.
        object.addIfPresent("radio", sighting.radio)
        object.add("retry_at", retry.map { now + $0 })
        object.add("retry_in_ms", retry?.milliseconds)
        object.add("rssi", sighting.rssi)
        object.add("since", since)
        object.add("state", connection.state.word)
        object.add("status", reason.status.rawValue)
        object.add("step", connection.state.step)
        object.add("why", reason.why)
    }
}

/// Why a connection failed, in `T/connection`.
struct ConnectionErrorDocument: JSONRecord {
    let error: TagConnectionError
    let text: String
    let hint: String

    func addMembers(to object: inout JSONWriter) {
        object.add("bluez", error.stackName)
        object.add("code", error.code.word)
        object.add("hint", hint)
        object.add("text", text)
    }
}

/// `T/battery`, and the data of the result of `battery/get`.
struct BatteryDocument: JSONRecord {
    /// All values are null until the tag has reported it.
    let battery: Timestamped<BatteryStatus>?
    /// Whether the level is low, with a hysteresis: a subscriber need not remember the levels before.
    let isLow: Bool

    func addMembers(to object: inout JSONWriter) {
        object.add("charging", battery?.value.isCharging)
        object.add("level", battery?.value.level)
        object.add("low", battery == nil ? nil : isLow)
        object.add("time", battery?.at)
    }
}

/// `T/gear`.
struct GearDocument: JSONRecord {
    /// All values are null until the tag has reported its gear. Without gear, only `attached` has a value.
    let gear: Timestamped<Component?>?

    func addMembers(to object: inout JSONWriter) {
        let component = gear.flatMap(\.value)
        object.add("attached", gear.map { $0.value != nil })
        object.add(
            "capabilities",
            component.map { Capability.allCases.filter($0.capabilities.contains).map(\.word) })
        object.add("firmware", component?.version?.description)
        object.add("product", component?.product.name.nonEmpty)
        object.add("product_id", component?.product.id.description)
        object.add("time", component == nil ? nil : gear?.at)
        object.add("uuid", component?.uuid)
        object.add("vendor", component?.vendor.name.nonEmpty)
        object.add("vendor_id", component?.vendor.id.description)
    }
}

extension String {
    /// The text; nil if it is empty.
    var nonEmpty: String? { isEmpty ? nil : self }
}

/// A reported value with the time of the report.
struct Timestamped<Value: Sendable>: Sendable {
    let value: Value
    let at: Timestamp
}
