import JSON
import JacquardProtocol
import Text
import Time

/// `request/pair`: the serial, or an object with `serial`, `timeout_s`, `radio` and `check`. Bonds with a tag and adds it to the
/// known tags. With `check`, it pairs nothing: it connects a known tag once with a radio and its bond. `stop`, also in `pair`, ends
/// the pairing of `serial`, or all of them.
struct PairRequest: BridgeRequest {
    static let name = "pair"
    static let keys = ["pair", "serial", "timeout_s", "radio", "check"]

    private enum Intent: Sendable {
        case pair(PairOrder)
        case stop(serial: String?)
    }

    private let intent: Intent

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        if case .object(let arguments) = payload, try arguments.word("pair", of: .startAndStop) == false {
            intent = .stop(serial: try arguments.pairingSerial()?.text)
        } else if case .text("stop") = payload {
            intent = .stop(serial: nil)
        } else {
            intent = .pair(try PairOrder(payload, to: bridge))
        }
    }

    /// The tag that is paired; nil for the end of pairings.
    var entry: TagEntry? { order?.entry }

    private var order: PairOrder? { if case .pair(let order) = intent { order } else { nil } }

    var needsBluetooth: Bool { order != nil }

    /// Longer than the driver's own timeout.
    var responseLimit: Duration { .seconds((order?.seconds ?? 0) + 30) }

    func checkBeginning(in bridge: borrowing BridgeState) throws(CommandFailure) { try order?.check(in: bridge) }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        switch intent {
        case .pair(let order):
            bridge.pair(
                order.entry, within: .seconds(order.seconds), radio: order.radio, isCheck: order.isCheck, token: token,
                at: now, &effects)
            return .underWay
        case .stop(let serial):
            let serials = bridge.stopPairings(of: serial, at: now, &effects)
            return .done(CommandData(["stopped": serials]))
        }
    }

    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep {
        guard let order, case .paired(let address, let name) = response else { return .failed(.neverEnded) }
        let sighting = TagSighting(address: address, name: name?.nonEmpty, isPaired: true)
        // A reload may have changed the tag's id, or may have given it to another tag.
        let entry: TagEntry
        do throws(CommandFailure) { entry = try PairOrder.entry(order.serial, in: bridge) } catch {
            return .failed(error)
        }
        if !order.isCheck { bridge.paired(entry, sighting, at: now, &effects) }
        return .done(
            CommandData { object in
                object.add("address", sighting.address)
                object.add("id", entry.id.text)
                object.add("name", sighting.name)
                object.add("serial", entry.serial)
            })
    }

    func failure(_ error: RequestError, in bridge: borrowing BridgeState) -> CommandFailure {
        order?.failure(error, in: bridge) ?? bridge.stack.failure(of: error)
    }

    func failed(
        _ failure: CommandFailure, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) {
        guard let order, !order.isCheck else { return }
        let isStopped = failure == .cancelledByStop
        bridge.pairingRequested(
            isStopped ? .cancelled(order.entry) : .failed(order.entry, failure), at: now, &effects)
    }

    /// Publishes the failure in `G/pairing`, for users that press a button in a dashboard.
    static func refused(
        _ failure: CommandFailure, of payload: CommandPayload, in bridge: inout BridgeState, at now: Timestamp,
        _ effects: inout Effects
    ) {
        let serial = try? CommandArguments(payload, word: "serial").pairingSerial()?.text
        bridge.pairingRequested(
            .refused(failure, serial: serial ?? bridge.search.pairing.requestSerial), at: now, &effects)
    }

    func refused(
        _ failure: CommandFailure, in bridge: inout BridgeState, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let order, failure != .cancelledByStop else { return }
        bridge.pairingRequested(.refused(failure, serial: order.entry.serial), at: now, &effects)
    }
}

/// A request to pair a tag.
private struct PairOrder: Sendable {
    let serial: TagID
    let entry: TagEntry
    let seconds: Int
    let radio: String?
    let isCheck: Bool

    /// At most five minutes: the user holds the tag's button meanwhile.
    private static let timeouts = 1...300
    private static let standardSeconds = 60
    /// The number of tags from which on pairing adds no new one: the state file has a size limit.
    private static let maxTags = 1_000

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let arguments = try CommandArguments(payload, word: "serial")
        let id = try arguments.pairingSerial() ?? bridge.search.pairing.requestSerial.flatMap { TagID($0) }
        guard let id else { throw Self.missingSerial(bridge.search.seen.serials) }
        serial = id
        seconds = try arguments.integer("timeout_s", Self.timeouts) ?? Self.standardSeconds
        radio = try arguments.radio(of: bridge.configuration.radios)
        isCheck = try arguments.flag("check") ?? false
        entry = try Self.entry(serial, in: bridge)
        guard isCheck else { return }
        guard radio != nil else {
            throw CommandFailure(.invalidArgument, "\"check\" needs \"radio\", the radio whose bond is checked")
        }
        _ = try bridge.tagPosition(entry.id.text)
    }

    /// Returns the entry of the tag to pair; the configuration takes precedence.
    static func entry(_ serial: TagID, in bridge: borrowing BridgeState) throws(CommandFailure) -> TagEntry {
        let known = bridge.tags.map(\.entry) + bridge.configuration.tags
        if let entry = known.first(where: { $0.serial == serial.text }) { return entry }
        guard !known.contains(where: { $0.id == serial }) else {
            throw CommandFailure(
                .invalidArgument, "\"serial\" is \(serial.text.quoted), which is the id of another tag",
                hint: "List the tag in the configuration with an id of its own")
        }
        guard bridge.tags.count < maxTags else {
            throw CommandFailure(
                .notPermitted, "The bridge knows 1,000 tags, and adds no further ones by pairing",
                hint: "Forget a tag, or list this one in the configuration")
        }
        return TagEntry(id: serial, serial: serial.text)
    }

    func check(in bridge: borrowing BridgeState) throws(CommandFailure) {
        if bridge.search.pairing.isPairing(entry.serial) {
            throw CommandFailure(.busy, "Tag \(entry.serial) is being paired already", hint: "Wait for that result")
        }
        if let radio, let adapter = bridge.stack.adapters?.first(where: { $0.radio == radio }),
            adapter.state != .poweredOn
        {
            throw CommandFailure(RequestError.radioUnavailable(text: "Radio \(radio) is \(adapter.state.text)"))
        }
    }

    func failure(_ error: RequestError, in bridge: borrowing BridgeState) -> CommandFailure {
        if isCheck, let radio { return checkFailure(error, radio) }
        let failure = bridge.stack.failure(of: error)
        let serials = bridge.search.seen.serials.filter { $0 != entry.serial }
        guard case .notFound = error else { return failure }
        let known = bridge.tags.map(\.entry.serial)
        let likeness = SerialLikeness.hint(for: entry.serial, in: known + serials)
        let received = likeness.isEmpty && !serials.isEmpty ? Self.list(serials) : nil
        return CommandFailure(
            failure.code, failure.text + likeness,
            hint: [failure.hint, received].compactMap(\.self).joined(separator: "; "))
    }

    private func checkFailure(_ error: RequestError, _ radio: String) -> CommandFailure {
        switch error {
        case .notFound:
            CommandFailure(
                .expired, "The radio \(radio) has not received the tag within \(seconds) s",
                hint: "Bring the tag near that radio, and touch or move it")
        case .refused(_, let text): CommandFailure(.tagError, "No connection with the radio \(radio): \(text)")
        case .bluetoothUnavailable, .radioUnavailable, .timeout: CommandFailure(error)
        }
    }

    /// The failure of a request without a serial.
    private static func missingSerial(_ received: [String]) -> CommandFailure {
        CommandFailure(
            .invalidArgument, "\"serial\" is missing; it may be \(CommandArguments.pairingSerials)",
            hint: "In Home Assistant, first select it in Select tag to pair; \(list(received))")
    }

    /// Upper bound on serials in a hint.
    private static let mostListed = 8

    /// A clause with the serials of the tags that were received recently.
    private static func list(_ received: [String]) -> String {
        let serials = Set(received).sorted()
        guard !serials.isEmpty else { return "no tag is received" }
        let more = serials.count > mostListed ? " and more" : ""
        return "received are \(serials.prefix(mostListed).joined(separator: ", "))\(more)"
    }
}

extension CommandArguments {
    /// The allowed values of `serial`.
    static let pairingSerials = "the serial printed on the tag, such as 003R"

    /// Reads the key `serial`; nil if it is absent.
    func pairingSerial() throws(CommandFailure) -> TagID? {
        try text("serial", mayBe: Self.pairingSerials) { text in
            (try? ScalarRule.serial.trimmed.parse(text)).flatMap { TagID($0) }
        }
    }
}

/// `request/pair_serial`: sets the serial for the next `request/pair` without one, as a word or in `serial`; an empty
/// payload clears it. For user interfaces with a text field and a button.
struct PairSerialRequest: BridgeRequest {
    static let name = "pair_serial"
    static let keys = ["serial"]

    private let serial: String?

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        serial = try CommandArguments(payload, word: "serial").pairingSerial()?.text
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        bridge.pairingRequested(.requestSerial(serial), at: now, &effects)
        return .done(CommandData(["serial": serial]))
    }
}
