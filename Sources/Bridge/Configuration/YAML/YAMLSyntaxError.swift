import CYAML

/// Why a text is no YAML, in words for people who never read its specification.
struct YAMLSyntaxError: Error, Hashable {
    /// The position at which libyaml stopped, or the beginning of the part that it could not finish.
    let position: YAMLPosition
    /// The error and its remedy.
    let problem: String
}

extension YAMLSyntaxError {
    /// Takes the error out of a parser that has just failed.
    ///
    /// - Parameters:
    ///   - parser: the parser.
    ///   - text: its text.
    ///   - last: the beginning of the step before the error, where its cause can be.
    init(_ parser: yaml_parser_t, _ text: YAMLText, after last: YAMLPosition) {
        let problem = parser.problem.map { String(cString: $0) } ?? ""
        // Errors of single bytes come before lines are counted: they have an offset instead of a mark.
        guard parser.error != YAML_READER_ERROR else {
            self.init(
                position: YAMLPosition(offset: Int(parser.problem_offset), in: text.bytes),
                problem: Self.plainWords(for: problem))
            return
        }
        let (beginning, place) = (YAMLPosition(parser.context_mark), YAMLPosition(parser.problem_mark))
        if let culprit = Self.culprit(problem, in: text, beginning, place, last) {
            self.init(position: culprit.position, problem: culprit.problem)
        } else {
            self.init(
                position: Self.problemsOfBeginning.contains(problem) ? beginning : place,
                problem: Self.plainWords(for: problem))
        }
    }

    /// The character of the file that has caused the error; nil if none is known.
    private static func culprit(
        _ problem: String, in text: YAMLText, _ beginning: YAMLPosition, _ place: YAMLPosition, _ last: YAMLPosition
    ) -> YAMLText.Culprit? {
        // The end of the file is far from the quote that is open.
        if problem == "found unexpected end of stream" { return text.closingQuote(after: beginning) }
        let first = max(min(last.line, place.line - 1), place.line - linesBefore, 1)
        if let culprit = text.structuralCulprit(inLines: first...max(place.line, first)) ?? text.tab(at: place) {
            return culprit
        }
        return problemsOfBrackets.contains(problem) ? nil : text.reservedValue(at: place)
    }

    /// How many lines before an error are searched for its cause.
    private static let linesBefore = 100
    /// The errors of what is opened and not closed.
    private static let problemsOfBrackets: Set<String> = [
        "did not find expected ',' or ']'", "did not find expected ',' or '}'",
    ]
    /// Where something was begun and not ended, the beginning is what the user has to look at.
    private static let problemsOfBeginning: Set<String> = [
        "could not find expected ':'", "did not find expected ',' or ']'", "did not find expected ',' or '}'",
        "found unexpected end of stream",
    ]

    /// The meaning of libyaml's terse words for the author of the file.
    ///
    /// Source: the messages of libyaml 0.2.5 that a file without directives can cause. None holds a part of the file.
    private static func plainWords(for problem: String) -> String {
        switch problem {
        case "mapping values are not allowed in this context":
            "a second \": \" in one line, or an indentation that does not fit; quote a value that holds \": \""
        case "could not find expected ':'":
            "a key without \": \" after it, or an indentation that does not fit"
        case "did not find expected key", "did not find expected '-' indicator":
            "the indentation does not fit the lines above, or a value needs quotes"
        case "found character that cannot start any token":
            "a value begins with a character that YAML reserves (a tab, @, ` or %); indent with spaces, put the value in quotes"
        case "found a tab character that violates indentation",
            "found a tab character where an indentation space is expected":
            "a tab (U+0009) in the indentation: use spaces"
        case "found unexpected end of stream":
            "a quote is opened and never closed; if a value begins with it, put the value in quotes of the other kind"
        case "did not find expected ',' or ']'":
            "a [ is opened and not closed, or a comma is missing; if a value begins with [, put the value in quotes"
        case "did not find expected ',' or '}'":
            "a { is opened and not closed, or a comma is missing; if a value begins with {, put the value in quotes"
        case "did not find expected node content":
            "a value is missing, or a [ or { is opened and not closed; or put the value in quotes"
        case "did not find expected <document start>":
            "text that belongs to no key; check the indentation of this line"
        case "did not find expected alphabetic or numeric character", "did not find expected whitespace or line break",
            "did not find the expected '>'", "did not find expected tag URI", "did not find expected '!'",
            "found undefined tag handle", "did not find expected comment or line break",
            "found an indentation indicator equal to 0", "mapping keys are not allowed in this context":
            "a value begins with a character that YAML reserves; put the value in quotes"
        case "found unknown escape character", "did not find expected hexdecimal number":
            "an unknown escape after \\ in double quotes; use single quotes"
        case "block sequence entries are not allowed in this context":
            "a list item (\"- \") where none can stand; begin it on a line of its own"
        case "control characters are not allowed":
            "a control character; the file must be text"
        case _ where problem.split(separator: " ").contains("UTF-8"), "invalid Unicode character":
            "not UTF-8 text; save the file as UTF-8"
        case "":
            "there is not enough memory to read the file"
        default:
            "not valid YAML: \(problem)"
        }
    }
}
