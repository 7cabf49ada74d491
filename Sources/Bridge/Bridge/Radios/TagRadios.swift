import JSON
import JacquardProtocol
import Time

/// How one radio receives a tag, if the bridge has several radios.
public struct RadioReception: Hashable, Sendable {
    /// The name of the radio.
    public var radio: String
    /// The smoothed signal strength in dBm; nil if the radio has not received the tag.
    public var rssi: Int?
    /// How long ago the radio received the tag; nil if it has not.
    public var age: Duration?
    /// Whether the radio has a bond that the tag accepts, as far as known.
    public var isBonded: Bool

    /// Creates a reception.
    public init(radio: String, rssi: Int?, age: Duration?, isBonded: Bool) {
        self.radio = radio
        self.rssi = rssi
        self.age = age
        self.isBonded = isBonded
    }
}

/// The radios that receive a tag: the state of `T/radios`.
struct TagRadios: Sendable {
    /// How one radio has received the tag.
    struct Row: Equatable, Sendable {
        let radio: String
        let rssi: Int?
        let last: Timestamp?
        let isBonded: Bool
    }

    /// In the order of the configuration.
    private(set) var rows: [Row] = []
    /// The radios that receive the tag although none has a bond that it needs; empty: no problem.
    var withoutBond: [String] = []
    private var throttle = Throttle(every: .seconds(10))

    /// When ``isDue(at:)`` may be true.
    var due: Instant? { throttle.due }

    /// Handles receptions.
    ///
    /// - Returns: whether to publish them now.
    mutating func received(_ receptions: [RadioReception], at now: Timestamp) -> Bool {
        let new = receptions.map { reception in
            let last = reception.age.map { now + (.zero - $0) }
            return Row(
                radio: reception.radio, rssi: reception.rssi, last: time(last, of: reception.radio),
                isBonded: reception.isBonded)
        }
        guard new != rows else { return false }
        let hadBonds = rows.filter(\.isBonded).map(\.radio)
        rows = new
        guard new.filter(\.isBonded).map(\.radio) == hadBonds else {
            throttle.happened(at: now.instant)
            return true
        }
        return throttle.admits(at: now.instant)
    }

    /// The time of a reception: that of the last report if it is the same reception. Its age is rounded.
    private func time(_ new: Timestamp?, of radio: String) -> Timestamp? {
        guard let new, let old = rows.first(where: { $0.radio == radio })?.last else { return new }
        return max(new.instant - old.instant, old.instant - new.instant) <= Self.rounding ? old : new
    }

    /// The most by which two ages of one reception may differ.
    private static let rounding = Duration.milliseconds(5)

    /// Returns whether receptions are to be published that were held back.
    mutating func isDue(at now: Instant) -> Bool { throttle.isDue(at: now) }
}

/// One element of `T/radios`.
struct RadioDocument: JSONRecord {
    let row: TagRadios.Row

    func addMembers(to object: inout JSONWriter) {
        object.add("bonded", row.isBonded)
        object.add("last_received", row.last)
        object.add("radio", row.radio)
        object.add("rssi", row.rssi)
    }
}

extension RadioDocument {
    static let topic = TopicRow("radios", .fact, while: .severalRadios) { document in
        let radios = (document.elements ?? []).map { radio in
            let strength = radio["rssi"]?.word.map { " at \($0) dBm" } ?? ""
            let bond = radio["bonded"]?.flag == true ? "" : " without a bond"
            return "\(radio["radio"]?.word ?? "radio")\(strength)\(bond)"
        }
        return radios.isEmpty ? "no radio has received it" : "received by \(radios.joined(separator: ", "))"
    }
}
