import JacquardProtocol

/// `config/get`: reads a value from the tag's configuration store.
struct ConfigGet: TagRequest {
    static let name = "config/get"

    private let entry: ConfigEntry

    var operation: TagOperation? {
        .perform(.configGet(key: entry.key, vendor: entry.vendor, product: entry.product))
    }

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        entry = try ConfigEntry(CommandArguments(objectOnly: payload))
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        guard case .tag(.configValue(let value)) = answer else { return TagRequestOutcome() }
        return TagRequestOutcome(data: CommandData(ConfigDocument(entry, value)))
    }
}
