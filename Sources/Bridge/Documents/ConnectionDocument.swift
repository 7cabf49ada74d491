import JacquardProtocol
import Time

/// `T/connection`.
struct ConnectionDocument: Encodable {
    let state: String
    @OrNull var step: Int?
    @OrNull var of: Int?
    let attempt: Int
    let since: String
    @OrNull var adapter: String?
    @OrNull var rssi: Int?
    @OrNull var lastSeen: String?
    @OrNull var error: ConnectionErrorDocument?
    @OrNull var retryAt: String?
    @OrNull var retryInMilliseconds: Int64?

    /// - Parameters:
    ///   - connection: the state of the session.
    ///   - since: when this state began.
    ///   - sighting: the latest facts from the Bluetooth stack.
    ///   - lastSeen: when the tag was last received; nil if not since the start.
    ///   - now: the current time.
    init(_ connection: TagConnection, since: Moment, sighting: TagSighting, lastSeen: Moment?, at now: Moment) {
        state = connection.state.word
        step = connection.state.step
        of = connection.state.step == nil ? nil : TagConnection.totalSteps
        attempt = connection.attempt
        self.since = since.text
        adapter = sighting.adapter
        rssi = sighting.rssi
        self.lastSeen = lastSeen?.text
        error = connection.error.map(ConnectionErrorDocument.init)
        retryAt = connection.retryAt.map { (now + max(.zero, $0 - now.instant)).text }
        retryInMilliseconds = connection.retryAt.map { max(0, ($0 - now.instant).milliseconds) }
    }

    private enum CodingKeys: String, CodingKey {
        case state, step, of, attempt, since, adapter, rssi, error
        case retryAt = "retry_at"
        case lastSeen = "last_seen"
        case retryInMilliseconds = "retry_in_ms"
    }
}

/// Why a connection failed, in `T/connection`.
struct ConnectionErrorDocument: Encodable {
    let code: String
    let text: String
    let hint: String
    @OrNull var bluez: String?

    init(_ error: TagConnectionError) {
        code = error.code.word
        text = error.text
        hint = error.code.hint
        bluez = error.stackName
    }
}
