import JSON
import JacquardProtocol

/// `request/pair`: the serial, or an object with `serial` and `timeout_s`. Makes a bond, and from then on knows the tag.
struct PairRequest: BridgeRequest {
    static let name = "pair"

    private let entry: TagEntry
    private let seconds: Int

    /// Five minutes at most: nobody holds a button longer.
    private static let timeouts = 1...300
    private static let standardSeconds = 60
    private static let serials = "the serial printed on the tag, such as 003R"

    /// Longer than the driver may take.
    var answerLimit: Duration { .seconds(seconds + 30) }

    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure) {
        let arguments: CommandArguments =
            switch payload {
            case .empty: CommandArguments([:])
            case .text(let text): CommandArguments(["serial": .string(try CommandPayload.singleWord(text))])
            case .object(let object): CommandArguments(object)
            }
        let id = try arguments.text("serial", mayBe: Self.serials) { text in
            PairingSerial(text).flatMap { TagID($0.description) }
        }
        let serial = try CommandArguments.required(id, "serial", mayBe: Self.serials)
        seconds = try arguments.integer("timeout_s", Self.timeouts) ?? Self.standardSeconds
        entry = try bridge.entryToPair(serial)
    }

    var needsBluetooth: Bool { true }

    func checkBeginning(in bridge: BridgeState) throws(CommandFailure) {
        guard bridge.pairing.contains(entry.serial) else { return }
        throw CommandFailure(.busy, "Tag \(entry.serial) is being paired already", hint: "Wait for that result")
    }

    func begin(in bridge: inout BridgeState, token: UInt64, at now: Moment) -> BridgeRequestStep {
        bridge.pairing.insert(entry.serial)
        let started = bridge.event(.pairStarted, id: entry.id, serial: entry.serial, at: now)
        return .underWay([
            .publish(started), .pair(serial: entry.serial, timeout: .seconds(seconds), token: token),
        ])
    }

    func carriedOut(
        _ answer: CommandAnswer, in bridge: inout BridgeState, token: UInt64, at now: Moment
    ) -> BridgeRequestStep {
        guard case .host(.paired(let address, let name)) = answer else { return .failed(.neverEnded) }
        bridge.pairing.remove(entry.serial)
        let paired = bridge.event(.paired, id: entry.id, serial: entry.serial, address: address, at: now)
        let sighting = TagSighting(address: address, name: name?.nonEmpty, isPaired: true)
        let actions = bridge.paired(entry, sighting, at: now)
        return .done(CommandData(PairedDocument(entry, sighting)), bridge.publish([paired]) + actions)
    }

    func failed(_ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment) -> [BridgeAction] {
        bridge.pairing.remove(entry.serial)
        return bridge.publish([
            bridge.event(.pairFailed, id: entry.id, serial: entry.serial, text: failure.text, at: now)
        ])
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
    /// The Bluetooth stack has got so far with a pairing; one that nobody has asked for means nothing.
    public mutating func pairing(serial: String, stage: PairingStage, at now: Moment) -> [BridgeAction] {
        guard !isStopped, pairing.contains(serial) else { return [] }
        let event: Publication =
            switch stage {
            case .found(let address): event(.pairFound, serial: serial, address: address, at: now)
            case .pairing: event(.pairPairing, serial: serial, at: now)
            case .connecting: event(.pairConnecting, serial: serial, at: now)
            }
        return publish([event])
    }

    /// What a tag of a serial is, or will be, once it is paired: what the configuration says of it comes first.
    fileprivate func entryToPair(_ serial: TagID) throws(CommandFailure) -> TagEntry {
        let known = tags.map(\.entry) + configuration.tags
        if let entry = known.first(where: { $0.serial == serial.text }) { return entry }
        guard !known.contains(where: { $0.id == serial }) else {
            throw CommandFailure(
                .invalidArgument, "\"serial\" is \(serial.text.quoted), which is the id of another tag",
                hint: "List the tag in the configuration with an id of its own")
        }
        return TagEntry(id: serial, serial: serial.text)
    }
}
