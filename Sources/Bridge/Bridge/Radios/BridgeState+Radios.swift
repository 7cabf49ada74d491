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

extension BridgeState {
    /// Handles an event of the radios about a tag; ignored for an unknown tag.
    mutating func radioReported(_ event: RadioEvent, about tag: TagHandle, at now: Timestamp) -> [BridgeAction] {
        guard let position = tags.position(of: tag) else { return [] }
        switch event {
        case .received(let receptions):
            return publish(tags[position].received(receptions, at: now)) + [tags[position].store()].compactMap(\.self)
        case .noBond(let radios):
            tags[position].radios?.withoutBond = radios
            return publish(healthChanged(at: now))
        }
    }
}

extension TagMirror {
    /// Handles receptions.
    mutating func received(_ receptions: [RadioReception], at now: Timestamp) -> [Publication] {
        radios?.received(receptions, at: now) == true ? radiosFact : []
    }

    /// `T/radios`; none with a single radio.
    var radiosFact: [Publication] {
        radios.map { [.fact(topics[.radios], $0.rows.map(RadioDocument.init))] } ?? []
    }

    /// The problem of a tag that only radios without a bond receive.
    var missingBond: Problem? {
        guard let radios = radios?.withoutBond, let first = radios.first else { return nil }
        return Problem(
            .noBondHere, about: entry.id.text,
            "Tag \(entry.id) is received by \(radios.joined(separator: ", ")) only, without a bond. "
                + "Pair it: jacquard2mqtt pair \(entry.serial) --radio \(first)")
    }
}

extension CommandArguments {
    /// Reads the key `radio` of `request/pair`; nil if it is absent.
    func radio(of names: [String]) throws(CommandFailure) -> String? {
        let allowed = names.isEmpty ? "absent: this bridge has one radio" : names.joined(separator: ", ")
        return try text("radio", mayBe: allowed) { name in names.first { $0 == name } }
    }
}

extension TopicRow {
    static let radios = TopicRow("radios", .fact, while: .severalRadios) { document in
        let radios = (document.elements ?? []).map { radio in
            let strength = radio["rssi"]?.word.map { " at \($0) dBm" } ?? ""
            let bond = radio["bonded"]?.flag == true ? "" : " without a bond"
            return "\(radio["radio"]?.word ?? "radio")\(strength)\(bond)"
        }
        return radios.isEmpty ? "no radio has received it" : "received by \(radios.joined(separator: ", "))"
    }
}
