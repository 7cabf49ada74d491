import JacquardProtocol

/// `config/set`: writes a value to the tag's configuration store and returns it in the result.
struct ConfigSet: TagRequest {
    static let name = "config/set"

    private let entry: ConfigEntry
    private let value: ConfigElement.Value

    var operation: TagOperation? {
        .perform(.configSet(key: entry.key, value, vendor: entry.vendor, product: entry.product))
    }

    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure) {
        let arguments = try CommandArguments(objectOnly: payload)
        entry = try ConfigEntry(arguments)
        let type = try CommandArguments.required(
            arguments.word("type", of: ConfigType.words), "type", mayBe: ConfigType.words.listed())
        let value = try type.value("value", in: arguments)
        self.value = try CommandArguments.required(value, "value", mayBe: "a value of the type \(type.rawValue)")
    }

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        TagRequestOutcome(data: CommandData(ConfigDocument(entry, value)))
    }
}
