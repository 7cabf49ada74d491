import JacquardProtocol

/// A command to a tag that has been read and found to be right; one type for each, one row in ``TagRequestTable``.
protocol TagRequest: Sendable {
    /// The last two levels of its topic, such as `led/set`.
    static var name: String { get }

    /// Reads it.
    ///
    /// - Throws: `invalid_argument` or `invalid_json`.
    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure)

    /// What the tag is to do.
    var command: TagCommand { get }

    /// The bridge will see to it; what a later command builds upon may already change.
    func accepted(by tag: inout TagMirror)

    /// The tag has answered: puts the truth into its mirror.
    func carriedOut(_ answer: TagCommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome

    /// It was not carried out, or nobody knows.
    func failed(at tag: inout TagMirror)
}

/// What a request that was carried out brings back, and what is to be told to all.
struct TagRequestOutcome: Sendable {
    var data = CommandData.none
    var publications: [Publication] = []
}

extension TagRequest {
    func accepted(by tag: inout TagMirror) {}
    func failed(at tag: inout TagMirror) {}
}

/// Every command to a tag that this version carries out.
enum TagRequestTable {
    /// In the order in which an error text lists them.
    static let rows: [any TagRequest.Type] = [
        BatteryGet.self,
        HapticSet.self,
        LEDSet.self,
        TouchModeSet.self,
    ]

    /// The command of a name.
    ///
    /// - Throws: `unknown_command`, with the names that there are.
    static func row(_ name: String) throws(CommandFailure) -> any TagRequest.Type {
        for row in rows where row.name == name { return row }
        // A key path here crashes the compiler (Swift 6.3.1, static member of an existential metatype).
        let names = rows.map { $0.name }.joined(separator: ", ")
        throw CommandFailure(.unknownCommand, "There is no command \(name.quoted); there are \(names)")
    }
}
