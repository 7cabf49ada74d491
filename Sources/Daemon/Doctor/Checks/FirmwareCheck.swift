import JSON

/// Whether a tag has a firmware that is known to be bad. The bridge knows; it says so in its health.
enum FirmwareCheck {
    /// Says which tags have one.
    ///
    /// - Parameter health: the document of `G/health`; nil when nothing is retained there.
    /// - Returns: the finding; a warning at most, for such tags work somehow.
    static func finding(_ health: JSONValue?) -> Finding {
        guard let problems = health?["problems"]?.elements else {
            return Finding(.firmware, .skipped, "no bridge has reported it yet")
        }
        let bad = problems.filter { $0["code"] == "bad_firmware" }.compactMap { $0["text"]?.string }
        guard !bad.isEmpty else { return Finding(.firmware, .ok, "no tag is known to have a bad one") }
        return Finding(
            .firmware, .warning, bad.joined(separator: "; "),
            remedies: ["there are no updates any more: expect lost connections, and prefer another tag"])
    }
}
