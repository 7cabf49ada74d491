import JSON
import JacquardProtocol
import Text
import Time

/// An event of a bridge with several radios.
public enum RadioEvent: Hashable, Sendable {
    /// Radios receive a tag.
    case received([RadioReception])
    /// Only these radios receive a tag that needs a bond, and none of them has one. Empty: that is over.
    case noBond(receivedBy: [String])
}

extension CommandArguments {
    /// Reads the key `radio` of `request/pair`; nil if it is absent.
    func radio(of names: [String]) throws(CommandFailure) -> String? {
        let allowed = names.isEmpty ? "absent: this bridge has one radio" : names.joined(separator: ", ")
        return try text("radio", mayBe: allowed) { name in names.first { $0 == name } }
    }
}
