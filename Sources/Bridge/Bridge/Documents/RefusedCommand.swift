import JSON

/// A command that a bridge has ended, and that another bridge may still have. An element of `refused` in `G/info`.
struct RefusedCommand: Hashable, Sendable, JSONRecord {
    /// Whether the bridge has published the result; omitted if another bridge publishes it.
    let answered: Bool?
    /// The `id` of the command; omitted if it has none.
    let id: String?
    /// Whether it reads what another command with the same result topic sets; omitted if not.
    let reading: Bool?
    let tag: String
    /// The result topic.
    let topic: String

    /// Size in bytes.
    var size: Int { (id?.utf8.count ?? 0) + tag.utf8.count + topic.utf8.count }

    func addMembers(to object: inout JSONWriter) {
        object.addIfPresent("answered", answered)
        object.addIfPresent("id", id)
        object.addIfPresent("reading", reading)
        object.add("tag", tag)
        object.add("topic", topic)
    }
}
