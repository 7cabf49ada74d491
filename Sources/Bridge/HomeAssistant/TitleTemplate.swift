/// Maps words of topics to the titles that Home Assistant shows, and back, in Jinja.
extension [(String, String)] {
    /// A dictionary literal: `{'gesture': 'Gestures'}`.
    var template: String {
        "{" + map { "\($0.0.templateText): \($0.1.templateText)" }.joined(separator: ", ") + "}"
    }

    /// The dictionary from title to word.
    var reversedTemplate: String { map { ($1, $0) }.template }
}

extension String {
    /// The text as a literal of a template.
    fileprivate var templateText: String {
        "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "\\'") + "'"
    }
}
