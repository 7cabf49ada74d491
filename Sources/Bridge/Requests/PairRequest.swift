import JSON
import JacquardProtocol

/// `request/pair`: the serial, or an object with `serial` and `timeout_s`. Bonds with a tag and adds it to the known
/// tags.
struct PairRequest: BridgeRequest {
    static let name = "pair"

    private let entry: TagEntry
    private let seconds: Int

    /// At most five minutes: the user holds the tag's button meanwhile.
    private static let timeouts = 1...300
    private static let standardSeconds = 60

    /// Longer than the driver's own timeout.
    var answerLimit: Duration { .seconds(seconds + 30) }

    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure) {
        let arguments = try Self.arguments(payload)
        let id = try arguments.pairingSerial() ?? bridge.pairingProgress.requestSerial.flatMap { TagID($0) }
        let serial = try CommandArguments.required(id, "serial", mayBe: CommandArguments.pairingSerials)
        seconds = try arguments.integer("timeout_s", Self.timeouts) ?? Self.standardSeconds
        entry = try bridge.entryToPair(serial)
    }

    /// Reads the keys of the request; a bare word is the serial.
    static func arguments(_ payload: CommandPayload) throws(CommandFailure) -> CommandArguments {
        switch payload {
        case .empty: CommandArguments([:])
        case .text(let text): CommandArguments(["serial": .string(try CommandPayload.singleWord(text))])
        case .object(let object): CommandArguments(object)
        }
    }

    var needsBluetooth: Bool { true }

    func checkBeginning(in bridge: BridgeState) throws(CommandFailure) {
        guard bridge.pairing.contains(entry.serial) else { return }
        throw CommandFailure(.busy, "Tag \(entry.serial) is being paired already", hint: "Wait for that result")
    }

    func begin(in bridge: inout BridgeState, token: UInt64, at now: Moment) -> BridgeRequestStep {
        bridge.pairing.insert(entry.serial)
        let started = bridge.event(.pairStarted, id: entry.id, serial: entry.serial, at: now)
        bridge.pairingProgress.begin(entry.serial, at: now)
        return .underWay(
            bridge.publish([started] + bridge.pairingFact)
                + [.pair(serial: entry.serial, timeout: .seconds(seconds), token: token)])
    }

    func carriedOut(
        _ answer: CommandAnswer, in bridge: inout BridgeState, token: UInt64, at now: Moment
    ) -> BridgeRequestStep {
        guard case .host(.paired(let address, let name)) = answer else { return .failed(.neverEnded) }
        bridge.pairing.remove(entry.serial)
        let paired = bridge.event(.paired, id: entry.id, serial: entry.serial, address: address, at: now)
        let sighting = TagSighting(address: address, name: name?.nonEmpty, isPaired: true)
        let actions = bridge.paired(entry, sighting, at: now)
        bridge.pairingProgress.succeed(entry.serial, address: address, at: now)
        let facts = bridge.pairingFact + bridge.foundFact
        return .done(
            CommandData(PairedDocument(entry, sighting)), bridge.publish([paired]) + actions + bridge.publish(facts))
    }

    func failed(_ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment) -> [BridgeAction] {
        bridge.pairing.remove(entry.serial)
        bridge.pairingProgress.fail(failure, serial: entry.serial, at: now)
        return bridge.publish(
            [bridge.event(.pairFailed, id: entry.id, serial: entry.serial, text: failure.text, at: now)]
                + bridge.pairingFact)
    }

    /// Publishes the failure in `G/pairing`, for users that press a button in a dashboard. A pairing in progress is not
    /// changed.
    static func refused(_ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment) -> [BridgeAction] {
        guard bridge.pairing.isEmpty else { return [] }
        bridge.pairingProgress.fail(failure, serial: nil, at: now)
        return bridge.publish(bridge.pairingFact)
    }
}

extension CommandArguments {
    /// The allowed values of `serial`.
    static let pairingSerials = "the serial printed on the tag, such as 003R"

    /// Reads the key `serial`; nil if it is absent.
    func pairingSerial() throws(CommandFailure) -> TagID? {
        try text("serial", mayBe: Self.pairingSerials) { text in
            PairingSerial(printed: text).flatMap { TagID($0.description) }
        }
    }
}

/// The data of the result of `request/pair`.
struct PairedDocument: Encodable {
    let id: String
    let serial: String
    @OrNull var address: String?
    @OrNull var name: String?

    init(_ entry: TagEntry, _ sighting: TagSighting) {
        id = entry.id.text
        serial = entry.serial
        address = sighting.address
        name = sighting.name
    }
}

extension BridgeState {
    /// Handles a stage of a pairing; ignored for a serial that is not being paired.
    public mutating func pairing(serial: String, stage: PairingStage, at now: Moment) -> [BridgeAction] {
        guard !isStopped, pairing.contains(serial) else { return [] }
        let event: Publication =
            switch stage {
            case .found(let address): event(.pairFound, serial: serial, address: address, at: now)
            case .pairing: event(.pairPairing, serial: serial, at: now)
            case .connecting: event(.pairConnecting, serial: serial, at: now)
            }
        pairingProgress.reached(stage, serial: serial, at: now)
        return publish([event] + pairingFact)
    }

    /// The number of tags from which on pairing adds no new one: the state file has a size limit.
    private static var mostTags: Int { 1_000 }

    /// Returns the entry of a tag that is being paired; the configuration takes precedence.
    fileprivate func entryToPair(_ serial: TagID) throws(CommandFailure) -> TagEntry {
        let known = tags.map(\.entry) + configuration.tags
        if let entry = known.first(where: { $0.serial == serial.text }) { return entry }
        guard !known.contains(where: { $0.id == serial }) else {
            throw CommandFailure(
                .invalidArgument, "\"serial\" is \(serial.text.quoted), which is the id of another tag",
                hint: "List the tag in the configuration with an id of its own")
        }
        guard tags.count < Self.mostTags else {
            throw CommandFailure(
                .notPermitted, "The bridge knows 1,000 tags, and adds no further ones by pairing",
                hint: "Forget a tag, or list this one in the configuration")
        }
        return TagEntry(id: serial, serial: serial.text)
    }
}
