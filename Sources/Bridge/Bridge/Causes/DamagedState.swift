/// A damaged state file.
public struct DamagedState: Hashable, Sendable {
    /// A record that could not be read.
    public struct Record: Hashable, Sendable {
        /// The tag: its id or serial, or the number of the record such as `number 3`.
        public var name: String
        /// The serial, if it could be read.
        public var serial: String?
        /// A clause such as `held is missing`.
        public var reason: String

        /// Creates a description of a record.
        public init(name: String, serial: String?, reason: String) {
            (self.name, self.serial, self.reason) = (name, serial, reason)
        }
    }

    /// The path of the copy of the damaged file.
    public var keptAs: String
    /// The records that could not be read; empty if none could be.
    public var records: [Record]

    /// Creates a description of a damaged file.
    public init(keptAs: String, records: [Record]) {
        (self.keptAs, self.records) = (keptAs, records)
    }
}
