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
struct TagInfoDocument: Encodable {
    let id: String
    @OrNull var name: String?
    @OrNull var tagName: String?
    let serial: String
    @OrNull var address: String?
    @OrNull var firmware: String?
    @OrNull var vendorID: String?
    @OrNull var productID: String?
    @OrNull var uuid: String?
    let bridge: String
    @OrNull var paired: Bool?
    let gestures: [String]
    let chords: [String]

    init(_ entry: TagEntry, sighting: TagSighting, _ info: TagInfo) {
        let component = info.component
        id = entry.id.text
        name = entry.name ?? sighting.name
        tagName = sighting.name
        serial = entry.serial
        address = sighting.address
        firmware = component?.version?.description
        vendorID = component?.vendor.id.description
        productID = component?.product.id.description
        uuid = component?.uuid
        bridge = info.bridge
        paired = sighting.isPaired
        gestures = Gesture.words
        chords = info.chords
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, serial, address, firmware, uuid, bridge, paired, gestures, chords
        case tagName = "tag_name"
        case vendorID = "vendor_id"
        case productID = "product_id"
    }
}

/// `T/connection`.
struct ConnectionDocument: JoinedDocument {
    let progress: ConnectionProgressDocument
    let reception: ReceptionDocument
    let reason: ConnectionReasonDocument

    var parts: [any Encodable] { [progress, reception, reason] }
}

/// How far the connection of a tag has come.
struct ConnectionProgressDocument: Encodable {
    let state: String
    @OrNull var step: Int?
    @OrNull var of: Int?
    let attempt: Int
    let since: String
    @OrNull var retryAt: String?
    @OrNull var retryInMilliseconds: Int64?

    /// - Parameters:
    ///   - connection: the connection.
    ///   - since: since when it has this state.
    ///   - now: the current time.
    init(_ connection: TagConnection, since: Timestamp, at now: Timestamp) {
        state = connection.state.word
        step = connection.state.step
        of = connection.state.step == nil ? nil : TagConnection.totalSteps
        attempt = connection.attempt
        self.since = since.text
        retryAt = connection.retryAt.map { (now + max(.zero, $0 - now.instant)).text }
        retryInMilliseconds = connection.retryAt.map { max(0, ($0 - now.instant).milliseconds) }
    }

    private enum CodingKeys: String, CodingKey {
        case state, step, of, attempt, since
        case retryAt = "retry_at"
        case retryInMilliseconds = "retry_in_ms"
    }
}

/// The last reception of a tag: its place, strength and time.
struct ReceptionDocument: Encodable {
    @OrNull var adapter: String?
    /// Omitted if the bridge has one radio.
    var radio: String?
    @OrNull var rssi: Int?
    @OrNull var lastSeen: String?

    /// - Parameters:
    ///   - sighting: the latest facts from the Bluetooth stack.
    ///   - lastSeen: when the tag was last received; nil if not since the start.
    init(_ sighting: TagSighting, lastSeen: Timestamp?) {
        adapter = sighting.adapter
        radio = sighting.radio
        rssi = sighting.rssi
        self.lastSeen = lastSeen?.text
    }

    private enum CodingKeys: String, CodingKey {
        case adapter, radio, rssi
        case lastSeen = "last_seen"
    }
}

/// Why a tag is connected or not.
struct ConnectionReasonDocument: Encodable {
    /// The state in one word for people.
    let status: String
    /// Why the tag is not connected, as `why` prints it; nil while it is connected.
    @OrNull var why: String?
    /// Why the connection has failed; nil if it has not.
    @OrNull var error: ConnectionErrorDocument?
    /// How the last link ended; the key is missing while presence is off.
    var ended: OrNull<String>?
    /// Whether the tag stays disconnected until the user connects it.
    let held: Bool
}

/// Why a connection failed, in `T/connection`.
struct ConnectionErrorDocument: Encodable {
    let code: String
    let text: String
    let hint: String
    @OrNull var bluez: String?

    init(_ error: TagConnectionError, text: String, hint: String) {
        code = error.code.word
        self.text = text
        self.hint = hint
        bluez = error.stackName
    }
}

/// `T/battery`, and the data of the result of `battery/get`.
struct BatteryDocument: Encodable {
    @OrNull var level: UInt8?
    @OrNull var charging: Bool?
    /// Whether the level is low, with a hysteresis: a subscriber need not remember the levels before.
    @OrNull var low: Bool?
    @OrNull var time: String?

    /// All values are null until the tag has reported its battery.
    init(_ battery: Timestamped<BatteryStatus>?, isLow: Bool) {
        level = battery?.value.level
        low = battery == nil ? nil : isLow
        charging = battery?.value.isCharging
        time = battery?.at.text
    }
}

/// `T/battery/forecast`.
struct BatteryForecastDocument: Encodable {
    @OrNull var empty: String?
    @OrNull var earliest: String?
    @OrNull var latest: String?
    @OrNull var basis: String?

    /// All values are null without a forecast.
    init(_ forecast: BatteryForecast?) {
        empty = forecast.map { TimeText.utc($0.empty) }
        earliest = forecast.map { TimeText.utc($0.earliest) }
        latest = forecast.map { TimeText.utc($0.latest) }
        basis = forecast?.basis
    }
}

/// `T/gear`.
struct GearDocument: Encodable {
    @OrNull var attached: Bool?
    @OrNull var vendor: String?
    @OrNull var vendorID: String?
    @OrNull var product: String?
    @OrNull var productID: String?
    @OrNull var capabilities: [String]?
    @OrNull var firmware: String?
    @OrNull var uuid: String?
    @OrNull var time: String?

    /// All values are null until the tag has reported its gear. Without gear, only `attached` has a value.
    init(_ gear: Timestamped<Component?>?) {
        let component = gear.flatMap(\.value)
        attached = gear.map { $0.value != nil }
        vendor = component?.vendor.name.nonEmpty
        vendorID = component?.vendor.id.description
        product = component?.product.name.nonEmpty
        productID = component?.product.id.description
        capabilities = component.map { Capability.allCases.filter($0.capabilities.contains).map(\.word) }
        firmware = component?.version?.description
        uuid = component?.uuid
        time = component == nil ? nil : gear?.at.text
    }

    private enum CodingKeys: String, CodingKey {
        case attached, vendor, product, capabilities, firmware, uuid, time
        case vendorID = "vendor_id"
        case productID = "product_id"
    }
}

extension String {
    /// The text; nil if it is empty.
    var nonEmpty: String? { isEmpty ? nil : self }
}

/// `T/touch`: one sample of the touch lines.
struct TouchDocument: Encodable {
    let seq: UInt32
    let proximity: UInt8
    let lines: [UInt8]
    let time: String

    init(_ touch: TouchData, at now: Timestamp) {
        seq = touch.sequence
        proximity = touch.proximity
        lines = touch.lines
        time = now.text
    }
}

/// A reported value with the time of the report.
struct Timestamped<Value: Sendable>: Sendable {
    let value: Value
    let at: Timestamp
}
