/// A program, as its help and its manual page describe it.
public struct ProgramDescription: Hashable, Sendable {
    /// The name of the executable.
    public let name: String
    /// Its purpose, in less than a line.
    public let summary: String
    /// Its description, in lines of at most 76 characters.
    public let details: [String]
    /// The sections at the end of every page.
    let sections: [HelpSection]
    /// The parts of the manual page that are not in the help.
    let manual: ManualText

    /// Creates a description.
    public init(
        name: String, summary: String, details: [String], sections: [HelpSection], manual: ManualText = ManualText()
    ) {
        self.name = name
        self.summary = summary
        self.details = details
        self.sections = sections
        self.manual = manual
    }
}

/// The parts of a manual page that are not in the help.
public struct ManualText: Hashable, Sendable {
    /// Further lines of the description.
    let details: [String]
    /// Lines to copy.
    let examples: [String]
    /// Other manual pages, each as name and section: `systemctl 1`.
    let seeAlso: [String]

    /// Creates texts.
    public init(details: [String] = [], examples: [String] = [], seeAlso: [String] = []) {
        self.details = details
        self.examples = examples
        self.seeAlso = seeAlso
    }
}

/// A titled part of a page of help.
public struct HelpSection: Hashable, Sendable {
    /// A term and its description.
    public struct Item: Hashable, Sendable {
        let term: String
        let lines: [String]
        /// Whether the item is on the manual page only.
        let isInManualOnly: Bool

        /// Creates an item.
        ///
        /// - Parameters:
        ///   - term: a path, the name of a variable, or a number.
        ///   - lines: the description, in lines of at most 72 characters.
        ///   - isInManualOnly: whether the help does not contain the item.
        public init(_ term: String, _ lines: [String], isInManualOnly: Bool = false) {
            self.term = term
            self.lines = lines
            self.isInManualOnly = isInManualOnly
        }
    }

    /// The kind of the terms.
    public enum Kind: Hashable, Sendable {
        /// Paths of files and folders.
        case files
        /// Environment variables.
        case environment
        /// Exit codes, each with a few words in the same line.
        case exitStatus
        /// No terms: the lines are printed as they are.
        case text(title: String)

        /// The title, as in other manual pages.
        var title: String {
            switch self {
            case .files: "FILES"
            case .environment: "ENVIRONMENT"
            case .exitStatus: "EXIT STATUS"
            case .text(let title): title
            }
        }
    }

    let kind: Kind
    let items: [Item]

    /// Creates a section of terms.
    public init(_ kind: Kind, _ items: [Item]) {
        self.kind = kind
        self.items = items
    }

    /// Creates a section of lines that are printed as they are.
    public init(_ title: String, _ lines: [String]) {
        self.init(.text(title: title), [Item("", lines)])
    }

    /// The lines of the help.
    var lines: [String] {
        items.filter { !$0.isInManualOnly }.flatMap { item in
            switch kind {
            case .files, .environment: [item.term] + item.lines.map { "    " + $0 }
            case .exitStatus: [item.term + "   " + item.lines.joined(separator: " ")]
            case .text: item.lines
            }
        }
    }
}
