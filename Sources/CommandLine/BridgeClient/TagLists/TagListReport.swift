import BrokerAccess
import CommandLine
import JSON
import Text

/// The output of a command to several tags.
struct TagListReport: Sendable {
    /// A tag and the outcome of its command.
    typealias Item = (tag: String, outcome: TagExchanges.Outcome)

    private let items: [Item]

    /// Creates a report; the items are in the order of the command line.
    init(_ items: [Item]) {
        self.items = items
    }

    /// `{"status","results":[{"tag",...}]}`: the bridge's results, each with its tag; `error` is the status if one of them is one.
    var document: JSONValue {
        let results = items.map { tag, outcome in
            let document =
                switch outcome {
                case .success(let result): result
                case .failure(let failure): failure.document
                }
            return JSONValue.object((document.members ?? [:]).merging(["tag": .string(tag)]) { $1 })
        }
        return ["status": failures.isEmpty ? "ok" : "error", "results": .array(results)]
    }

    /// One line for each tag.
    ///
    /// - Parameter sentence: the sentence for a successful result of a tag.
    /// - Returns: the lines; that of a failure has the code, the text and the hint.
    func lines(_ sentence: (String, JSONValue) -> String) -> [String] {
        items.map { tag, outcome in
            switch outcome {
            case .success(let result): DisplayText.joined([sentence(tag, result)] + result.notes)
            case .failure(let failure):
                "\(tag): \(failure.code): " + DisplayText.joined([failure.text, failure.hint].compactMap(\.self))
            }
        }
    }

    /// The failure of the command line; nil if all commands were successful.
    ///
    /// Its exit code is 3 if no bridge has answered, otherwise 1.
    var failure: ClientFailure? {
        guard !failures.isEmpty else { return nil }
        let shown = failures.prefix(Self.maxShown).map { "\($0.tag) (\($0.failure.code))" }.joined(separator: ", ")
        let rest = failures.count - min(failures.count, Self.maxShown)
        var failure = ClientFailure(
            exitCode: failures.count == items.count && failures.allSatisfy { $0.failure.exitCode == .noConnection }
                ? .noConnection : .failed,
            code: "tags_failed",
            text: "\(failures.count) of \(items.count) tags failed: \(shown)" + (rest > 0 ? " and \(rest) more" : ""))
        failure.isPrinted = true
        return failure
    }

    private static let maxShown = 20

    private var failures: [(tag: String, failure: ClientFailure)] {
        items.compactMap { tag, outcome in
            if case .failure(let failure) = outcome { (tag, failure) } else { nil }
        }
    }
}
