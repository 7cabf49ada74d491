import FakeBlueZ
import FakeProxy
import JacquardProtocol
import TagFirmware
import Text

/// The words of a typed line, taken from the left.
struct CommandWords {
    private var words: ArraySlice<String>

    init(_ line: some StringProtocol) {
        let blanks: Set<Character> = [" ", "\t", "\r"]
        words = ArraySlice(line.split { blanks.contains($0) }.map { String($0) })
    }

    /// The next word, which stays.
    func peek() -> String? { words.first }

    /// Takes the next word.
    mutating func next() -> String? { words.popFirst() }

    /// Takes the tag or the tags that a command is for.
    mutating func selection(for verb: String) throws(CommandError) -> TagSelection {
        guard let word = next() else {
            throw CommandError("\(verb) needs a tag's serial or address, or * for all tags")
        }
        if word == "*" { return .all }
        return word.contains(":") ? .address(word.uppercased()) : .serial(word)
    }

    /// Takes a number, if there is another word.
    mutating func number(_ name: String, in range: ClosedRange<Int>) throws(CommandError) -> Int? {
        guard let word = next() else { return nil }
        guard let number = Int(word), range.contains(number) else {
            throw CommandError("'\(word)' is no \(name); \(name) is \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Takes one of the given words.
    mutating func choice<Value>(_ verb: String, _ choices: [String: Value]) throws(CommandError) -> Value {
        let word = next() ?? ""
        guard let value = choices[word] else {
            throw CommandError("\(verb) takes \(choices.keys.sorted().joined(separator: " or ")), not '\(word)'")
        }
        return value
    }

    /// Rejects words that no parser has taken.
    func expectEnd() throws(CommandError) {
        if let word = words.first { throw CommandError("'\(word)' is one word too many") }
    }
}

/// The operands of the commands on tags.
extension CommandWords {
    /// Takes the count and the rate per second.
    private mutating func burst(_ content: Burst.Content) throws(CommandError) -> Burst {
        let count = try number("COUNT", in: 1...10_000_000) ?? 1
        guard let word = next() else { return Burst(content, count: count) }
        guard let rate = Double(word), rate > 0, rate <= 1_000_000 else {
            throw CommandError("'\(word)' is no RATE; RATE is how many a second, above 0")
        }
        return Burst(content, count: count, rate: rate)
    }

    /// Takes a gesture, how often, and how fast.
    mutating func gesture() throws(CommandError) -> Burst {
        let word = next() ?? ""
        if word == "cycle" { return try burst(.cycle) }
        guard let gesture = Gesture(word: word) ?? UInt32(word).map(Gesture.init) else {
            throw CommandError(
                "'\(word)' is no gesture; gestures are \(Gesture.words.joined(separator: ", ")), cycle, or a number")
        }
        return try burst(.gesture(gesture))
    }

    /// Takes the values of a touch, if there are any, how often, and how fast.
    mutating func touch() throws(CommandError) -> Burst {
        guard let word = peek(), word.contains(",") else { return try burst(.stroke) }
        _ = next()
        let values = word.split(separator: ",", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        guard values.count == 13, values.allSatisfy({ $0 <= 128 }) else {
            throw CommandError("a touch is 13 numbers from 0 to 128 with commas: proximity and twelve lines")
        }
        return try burst(.touch(values))
    }

    /// Takes the places, the duration and the rest of a stroke.
    mutating func stroke() throws(CommandError) -> Burst {
        guard let from = try number("FROM", in: 0...100) else { return Stroke(from: 10, to: 90).burst }
        guard let to = try number("TO", in: 0...100) else { throw CommandError("stroke needs FROM and TO") }
        let duration = try number("MS", in: 40...10_000) ?? 600
        let rest = try number("REST", in: 0...60_000) ?? 0
        return Stroke(from: from, to: to, milliseconds: duration, rest: rest).burst
    }

    /// Takes the battery's level and whether it is charging.
    mutating func battery() throws(CommandError) -> TagAction {
        guard let level = try number("LEVEL", in: 0...100) else {
            throw CommandError("battery needs a level from 0 to 100; charging or not_charging may follow")
        }
        let charging = peek() == nil ? nil : try choice("battery", ["charging": true, "not_charging": false])
        return .battery(level: UInt8(level), isCharging: charging)
    }

    /// Takes a place; without one the tag only moves.
    mutating func move() throws(CommandError) -> TagAction {
        guard let word = next() else { return .move }
        guard let place = Place(word) else { throw CommandError("'\(word)' is no place; a place is X,Y in metres") }
        return .carry(x: place.x, y: place.y)
    }

    /// Takes the gear to attach.
    mutating func gear() throws(CommandError) -> SimulatedGear {
        let word = next() ?? ""
        guard let gear = SimulatedGear(word: word) else {
            let allowed = SimulatedGear.all.map(\.word).joined(separator: ", ")
            throw CommandError("'\(word)' is no gear; gear is \(allowed)")
        }
        return gear
    }

    /// Takes a fault of the tag's responses.
    mutating func fault() throws(CommandError) -> TagAction {
        let word = next() ?? ""
        let fault: FirmwareFaults.AnswerFault
        switch word {
        case "clear": return .fault(nil, isOnce: false)
        case "no-write-with-response": return .refusesWrites
        case "delay":
            guard let wait = try number("MS", in: 0...600_000) else {
                throw CommandError("delay needs milliseconds, 0 to 600000")
            }
            fault = .delay(.milliseconds(wait))
        case "status":
            guard let number = try number("N", in: 0...255) else {
                throw CommandError("status needs a number, 0 to 255")
            }
            fault = .status(UInt32(number))
        default:
            guard let plain = Self.plainFaults[word] else {
                let allowed =
                    Self.plainFaults.keys.sorted() + ["delay MS", "status N", "no-write-with-response", "clear"]
                throw CommandError("'\(word)' is no fault; faults are \(allowed.joined(separator: ", "))")
            }
            fault = plain
        }
        let isOnce = peek() == "once"
        if isOnce { _ = next() }
        return .fault(fault, isOnce: isOnce)
    }

    private static let plainFaults: [String: FirmwareFaults.AnswerFault] = [
        "drop-response": .drop, "double": .double, "wrong-id": .wrongID, "malformed": .malformed,
        "truncated": .truncated, "no-body": .noBody, "lost-fragment": .lostFragment, "hang": .hang,
    ]
}

/// The operands of the commands on motion data.
extension CommandWords {
    /// Takes the name of a session and its number of samples.
    mutating func session() throws(CommandError) -> TagAction {
        guard let name = next(), let count = try number("SAMPLES", in: 0...1_000_000) else {
            throw CommandError("session needs a NAME and SAMPLES")
        }
        return .storeSession(name, sampleCount: count)
    }

    /// Takes the bytes of a packet.
    mutating func packet() throws(CommandError) -> [UInt8] {
        let bytes = next().flatMap { [UInt8](hex: $0) } ?? []
        guard (1...Fragment.maximumPacketLength).contains(bytes.count) else {
            throw CommandError(
                "notify needs 1 to \(Fragment.maximumPacketLength) bytes in hexadecimal, such as 0800101e")
        }
        return bytes
    }

    /// Takes a fault of motion data.
    mutating func motionFault() throws(CommandError) -> TagAction {
        let word = next() ?? ""
        switch word {
        case "clear": return .motionFault(nil)
        case "repeated-packets": return .motionFault(.repeatedPackets)
        case "empty-packet": return .motionFault(.emptyPacket)
        case "no-end-marker": return .motionFault(.noEndMarker)
        case "missing-session": return .motionFault(.missingSession)
        case "link-lost":
            var bytes: [Int] = []
            while let byte = try number("BYTE", in: 1...Int(Int32.max)) { bytes.append(byte) }
            guard !bytes.isEmpty else { throw CommandError("BYTE is missing") }
            return .motionFault(.linkLost(at: bytes.sorted()))
        case "status":
            guard let number = try number("N", in: 0...255) else { throw CommandError("N is missing") }
            return .motionFault(.status(MotionStatus(rawValue: UInt32(number))))
        default:
            throw CommandError(
                "'\(word)' is no fault; faults are clear, empty-packet, link-lost BYTE..., missing-session, no-end-marker, "
                    + "repeated-packets, status N")
        }
    }
}

/// The operands of the commands on `org.bluez`.
extension CommandWords {
    /// Takes what to do with an adapter, and its number.
    mutating func adapter() throws(CommandError) -> SimulatorCommand {
        let change = try choice("adapter", Self.adapterChanges)
        let number = try number("ADAPTER", in: 0...9)
        return switch change {
        case .power(let isOn): .adapter(isOn: isOn, number: number)
        case .plug(let isIn): .plug(isIn: isIn, number: number ?? 0)
        }
    }

    private enum AdapterChange {
        case power(isOn: Bool)
        case plug(isIn: Bool)
    }

    private static let adapterChanges: [String: AdapterChange] = [
        "on": .power(isOn: true), "off": .power(isOn: false), "plug": .plug(isIn: true), "unplug": .plug(isIn: false),
    ]

    /// Takes a fault of `org.bluez`.
    mutating func blueZFault() throws(CommandError) -> BlueZFault {
        let word = next() ?? ""
        switch word {
        case "ignore": return .ignore(member: try member())
        case "refuse": return try refusal()
        default: break
        }
        guard let plain = Self.plainBlueZFaults[word] else {
            let allowed = Self.plainBlueZFaults.keys.sorted() + ["ignore MEMBER", "refuse MEMBER ERROR [TEXT]"]
            throw CommandError("'\(word)' is no fault; faults are \(allowed.joined(separator: ", "))")
        }
        return plain
    }

    /// Takes a fault of the ESPHome proxy.
    mutating func proxyFault() throws(CommandError) -> ProxyFault {
        let word = next() ?? ""
        guard word != "slots" else {
            guard let count = try number("N", in: 0...9) else { throw CommandError("slots needs a number, 0 to 9") }
            return .slots(count)
        }
        guard let plain = Self.plainProxyFaults[word] else {
            let allowed = Self.plainProxyFaults.keys.sorted() + ["slots N"]
            throw CommandError("'\(word)' is no fault; faults are \(allowed.joined(separator: ", "))")
        }
        return plain
    }

    private static let plainProxyFaults: [String: ProxyFault] = [
        "drop": .drop, "silent": .silent, "taken": .taken, "clear": .clear,
    ]

    private static let plainBlueZFaults: [String: BlueZFault] = [
        "hide-services": .hideServices, "hide-characteristics": .hideCharacteristics,
        "resolve-nothing": .resolveNothing,
        "end-discovery": .endDiscovery, "remove-devices": .removeDevices, "close-descriptors": .closeDescriptors,
        "clear": .clear,
    ]

    private mutating func member() throws(CommandError) -> String {
        guard let member = next() else { throw CommandError("a MEMBER is missing, such as Connect") }
        return member
    }

    /// The name of an error without dots is one of BlueZ.
    private mutating func refusal() throws(CommandError) -> BlueZFault {
        let member = try member()
        guard let error = next() else { throw CommandError("an ERROR is missing, such as Failed") }
        var text: [String] = []
        while let word = next() { text.append(word) }
        let name = error.contains(".") ? error : "org.bluez.Error." + error
        return .refuse(member: member, error: name, text: text.joined(separator: " "))
    }
}
