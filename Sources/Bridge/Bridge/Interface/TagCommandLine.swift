public import JSON

/// A command line that is one command to tags, with its words, its manual and the sentence that follows a success.
public struct TagCommandLine: Sendable {
    /// A word of the command line that becomes a key of the payload.
    public struct Operand: Sendable {
        /// Its name in the manual, such as `STATE`.
        public let name: String
        /// The key.
        public let key: String
        /// The words that it may be.
        public let words: [String]
        /// The word if it is left out.
        public let standard: String
    }

    /// An option with a whole number that becomes a key of the payload.
    public struct Number: Sendable {
        /// The option, such as `--for`.
        public let name: String
        /// The key.
        public let key: String
        /// Its unit.
        public let unit: Unit
        /// The numbers that it may be.
        public let range: ClosedRange<UInt32>
        /// The words of the operand that it belongs to.
        public let words: [String]
        /// A sentence for the manual.
        public let details: String
    }

    /// The unit of a number.
    public struct Unit: Sendable {
        /// In the manual and in error texts, such as `seconds`.
        public let name: String
        /// On the page, such as `s`.
        public let symbol: String

        /// Seconds.
        public static let seconds = Unit(name: "seconds", symbol: "s")
    }

    /// The command, which is also the first level of its topic, such as `find`.
    public let name: String
    /// A clause for the list of commands, such as `play a signal on tags`.
    public let summary: String
    /// Sentences for the manual.
    public let details: [String]
    /// The word after the tags.
    public let operand: Operand
    /// The option.
    public let number: Number
    /// Whole command lines without the name of the program.
    public let examples: [String]
    /// Returns what a tag does after a success, such as `blinks for 60 s`. It is given the keys of the payload.
    public let sentence: @Sendable ([String: JSONValue]) -> String
}
