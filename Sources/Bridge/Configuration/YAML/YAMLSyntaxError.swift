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
    init(_ parser: yaml_parser_t, _ bytes: [UInt8]) {
        let problem = parser.problem.map { String(cString: $0) } ?? ""
        self.problem = Self.plainWords(for: problem)
        // Errors of single bytes come before lines are counted: they have an offset instead of a mark.
        if parser.error == YAML_READER_ERROR {
            position = YAMLPosition(offset: Int(parser.problem_offset), in: bytes)
        } else {
            let isAboutBeginning = Self.problemsOfBeginning.contains(problem)
            position = YAMLPosition(isAboutBeginning ? parser.context_mark : parser.problem_mark)
        }
    }

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
            "a value begins with a character that YAML reserves (a tab, @, ` or %); indent with spaces, quote the value"
        case "found a tab character that violates indentation",
            "found a tab character where an indentation space is expected":
            "a tab in the indentation; use spaces"
        case "found unexpected end of stream":
            "a quote is opened and never closed"
        case "did not find expected ',' or ']'":
            "a [ is opened and not closed, or a comma is missing"
        case "did not find expected ',' or '}'":
            "a { is opened and not closed, or a comma is missing"
        case "did not find expected node content":
            "a value is missing, or a [ or { is opened and not closed"
        case "did not find expected <document start>":
            "text that belongs to no key; check the indentation of this line"
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
