import CommandLine
import JacquardProtocol
import TagFirmware
import Text

/// The options of the command line.
struct SimulatorOptions: Hashable, Sendable {
    /// The serials that are named.
    var serials: [PairingSerial] = []
    /// The number of tags; nil: as many as there are serials, at least one.
    var tagCount: Int?
    /// The address of an existing bus; nil: a private one.
    var bus: String?
    var adapters = 1
    /// The places of the adapters; empty: each receives every tag alike.
    var places: [Place] = []
    /// The address of the bus of another BlueZ, which has the last adapter; nil: there is none.
    var otherBus: String?
    var isJSON = false
    var speaksOnStandardIO = false
    var isQuick = false
    var allowsAcquire = true
    var gesturesEvery: Duration?
    var mtu: UInt16?
    var tag = TagOptions()
    var profile = TagProfile.stock
    var scenario: String?
    /// The file with the recording that the first tag plays back.
    var replay: String?
    var speed = 1.0
    /// The port of the fake proxy; nil: there is none.
    var proxyPort: UInt16?
    /// The place of the fake proxy; nil: it receives every tag alike.
    var proxyPlace: Place?
    /// The file with the key of the fake proxy; nil: it does not encrypt.
    var proxyKeyFile: String?
    /// Whether tags sleep after ten idle minutes, and after a minute of advertising.
    var sleeps = false
    var reportsReasons = false

    /// The ATT MTUs of a connection.
    static let mtus = 23...517

    /// The serials of all tags: those that are named, then `0001` and following.
    var allSerials: [PairingSerial] {
        let count = max(tagCount ?? max(serials.count, 1), serials.count)
        let spare = (1...).lazy.compactMap { PairingSerial(Self.fourDigits($0)) }.filter { !serials.contains($0) }
        return serials + spare.prefix(count - serials.count)
    }

    private static func fourDigits(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension SimulatorOptions {
    /// Reads the options.
    ///
    /// - Throws: `CommandLineError` for a value that is not allowed.
    init(_ arguments: ParsedArguments) throws(CommandLineError) {
        func isSet(_ option: OptionDescription) -> Bool { arguments.options[option.name] != nil }
        serials =
            (try arguments.value(of: .serials, serialList) ?? [])
            + (try arguments.value(of: .serial, serialList) ?? [])
        tagCount = try arguments.value(of: .tags, .integer(1...250))
        bus = arguments.options[OptionDescription.bus.name]
        adapters = try arguments.value(of: .adapters, .integer(0...8)) ?? 1
        if let places = try arguments.value(of: .places, placeList) {
            guard arguments.options[OptionDescription.adapters.name] == nil else {
                throw CommandLineError(message: "--places sets the number of adapters, too; leave --adapters out")
            }
            (self.places, adapters) = (places, places.count)
        }
        otherBus = arguments.options[OptionDescription.otherBus.name]
        if otherBus != nil, adapters == 0 { throw CommandLineError(message: "--other-bus needs an adapter") }
        if let place = try arguments.value(of: .esphomePlace, placeList) {
            guard let first = place.first, place.count == 1, !places.isEmpty else {
                throw CommandLineError(message: "--esphome-place is one place, and needs --places")
            }
            proxyPlace = first
        }
        profile = try arguments.value(of: .profile, .choice) ?? .stock
        scenario = arguments.options[OptionDescription.scenario.name]
        replay = arguments.options[OptionDescription.replay.name]
        speed = try arguments.value(of: .speed, replaySpeed) ?? 1
        mtu = try arguments.value(of: .mtu, .integer(Self.mtus)).map(UInt16.init)
        gesturesEvery = try arguments.value(of: .gesturesEvery, .seconds(milliseconds: 10...86_400_000))
        proxyPort = try arguments.value(of: .esphome, .integer(1...65_535)).map(UInt16.init)
        proxyKeyFile = arguments.options[OptionDescription.esphomeKey.name]
        isJSON = isSet(.json)
        speaksOnStandardIO = isSet(.stdio)
        isQuick = isSet(.quick)
        sleeps = isSet(.sleep)
        reportsReasons = isSet(.disconnectReasons)
        allowsAcquire = !isSet(.noAcquire)
        tag.isLossy = isSet(.lossy)
        tag.allowsWriteWithoutResponseOnly = isSet(.writeWithoutResponseOnly) || profile == .old
        tag.wantsPairing = isSet(.pairing)
        tag.hasNoService = profile == .noService
        if speaksOnStandardIO, allSerials.count != 1 {
            throw CommandLineError(message: "\(OptionDescription.stdio.name) is for one tag")
        }
    }
}

/// Serials, separated by commas.
private var serialList: ScalarRule<[PairingSerial]> {
    ScalarRule(
        allowed: "serials of 1 to 16 of 0-9 A-Z a-z -, separated by commas"
    ) { text throws(Rejection) in
        var serials: [PairingSerial] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let serial = PairingSerial(String(part)), part.utf8.count <= 16 else {
                throw Rejection("is not a list of serials")
            }
            serials.append(serial)
        }
        return serials
    }
}

/// Places of adapters, separated by colons.
private var placeList: ScalarRule<[Place]> {
    ScalarRule(allowed: "1 to 8 places in metres such as 0,0:8,3.5") {
        text throws(Rejection) in
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let places = parts.compactMap { Place($0) }
        guard places.count == parts.count, places.count <= 8 else { throw Rejection("is no list of places") }
        return places
    }
}

/// How much faster than recorded.
private var replaySpeed: ScalarRule<Double> {
    ScalarRule(allowed: "0.1 to 1000") { text throws(Rejection) in
        guard let speed = Double(text), (0.1...1000).contains(speed) else { throw Rejection("is no speed") }
        return speed
    }
}

extension OptionDescription {
    /// All options, in the order of the help.
    static let ofSimulator: [OptionDescription] = [
        tags, serials, bus, adapters, places, otherBus, profile, scenario, replay, speed, mtu, noAcquire, lossy,
        writeWithoutResponseOnly, pairing, sleep, disconnectReasons, gesturesEvery, quick, jsonLines, stdio, serial,
        esphome, esphomeKey, esphomePlace,
    ]

    fileprivate static let esphome = OptionDescription(
        name: "--esphome", value: "PORT",
        details: ["Also simulate a Bluetooth proxy of ESPHome, on this port of", "127.0.0.1."])
    fileprivate static let esphomeKey = OptionDescription(
        name: "--esphome-key", value: "FILE", completion: .file([]),
        details: ["Encrypt the proxy's connections with the key in a file."])

    fileprivate static let esphomePlace = OptionDescription(
        name: "--esphome-place", value: "X,Y", details: ["The place of the proxy, with --places."])
    fileprivate static let otherBus = OptionDescription(
        name: "--other-bus", value: "ADDRESS",
        details: ["The last adapter is hci0 of another BlueZ, on this existing bus."])

    fileprivate static let tags = OptionDescription(
        name: "--tags", value: "N", details: ["The number of tags, at most 250 (default: 1)."])
    fileprivate static let serials = OptionDescription(
        name: "--serials", value: "SERIAL,...",
        details: ["Serials of the first tags; the others are 0001 and following."])
    fileprivate static let bus = OptionDescription(
        name: "--bus", value: "ADDRESS", details: ["Use an existing bus, such as unix:path=/run/bus."])
    fileprivate static let adapters = OptionDescription(
        name: "--adapters", value: "N",
        details: ["The number of adapters, hci0 and following, at most 8 (default: 1)."])
    fileprivate static let places = OptionDescription(
        name: "--places", value: "X,Y:X,Y",
        details: [
            "The places of the adapters in metres, hci0 first. The strength of a", "tag follows from the distance.",
        ])
    fileprivate static let profile = OptionDescription(
        name: "--profile", value: "PROFILE", completion: .words(TagProfile.allCases.map(\.rawValue)),
        details: [
            "The firmware: " + TagProfile.allCases.map(\.rawValue).joined(separator: ", "), "(default: stock).",
        ])
    fileprivate static let scenario = OptionDescription(
        name: "--scenario", value: "FILE", completion: .file([]),
        details: ["Run commands from a file, one per line, with `wait SECONDS`", "between them."])
    fileprivate static let replay = OptionDescription(
        name: "--replay-traffic", value: "FILE", completion: .file([]), formerNames: ["--replay"],
        details: [
            "Play back a recording of Bluetooth traffic as the first tag: a file",
            "of `jacquard2mqtt record-traffic`, or a report of `jacquard2mqtt checkup`.",
        ])
    fileprivate static let speed = OptionDescription(
        name: "--speed", value: "N", details: ["Divide the delays of a recording by 0.1 to 1000 (default: 1)."])
    fileprivate static let mtu = OptionDescription(
        name: "--mtu", value: "N", details: ["The ATT MTU of every connection, 23 to 517 (default: 247)."])
    fileprivate static let noAcquire = OptionDescription(
        name: "--no-acquire", value: nil,
        details: ["Refuse AcquireNotify and AcquireWrite, so that clients use", "StartNotify and WriteValue."])
    fileprivate static let lossy = OptionDescription(
        name: "--lossy", value: nil,
        details: ["Drop values if the client's socket is full, as bluetoothd does."])
    fileprivate static let writeWithoutResponseOnly = OptionDescription(
        name: "--write-without-response-only", value: nil,
        details: ["Simulate firmware before 1.43, which accepts writes without", "response only."])
    fileprivate static let pairing = OptionDescription(
        name: "--pairing", value: nil, details: ["Tags request pairing and reject everything before it."])
    fileprivate static let sleep = OptionDescription(
        name: "--sleep", value: nil,
        details: ["Tags sleep after ten idle minutes, and after one minute of", "advertising."])
    fileprivate static let disconnectReasons = OptionDescription(
        name: "--disconnect-reasons", value: nil,
        details: ["Signal why a link has ended, as bluetoothd 5.83 and later do."])
    fileprivate static let gesturesEvery = OptionDescription(
        name: "--gestures-every", value: "SECONDS", details: ["Send gestures automatically, at this interval."])
    fileprivate static let quick = OptionDescription(
        name: "--quick", value: nil, details: ["Shorten the long delays of bluetoothd."])
    fileprivate static let jsonLines = OptionDescription(
        name: json.name, value: nil, details: ["Print one JSON object per line."])
    fileprivate static let stdio = OptionDescription(
        name: "--stdio", value: nil,
        details: ["Simulate one tag on standard input and output, for another radio", "simulator."])
    fileprivate static let serial = OptionDescription(
        name: "--serial", value: "SERIAL", details: ["The serial of one tag, such as that of --stdio (default: 0001)."])
}

/// A kind of tag.
enum TagProfile: String, CaseIterable, Sendable {
    /// An ordinary tag.
    case stock
    /// With firmware before 1.43, whose command characteristic is written without response only.
    case old
    /// With firmware that the SDK rejects.
    case badFirmware = "bad-firmware"
    /// Advertises like a tag, but has none of its characteristics.
    case noService = "no-service"
    /// Reports its battery only on request.
    case silentBattery = "silent-battery"
    /// Doesn't respond to requests for its battery, refuses its store, and notifies something unknown.
    case deviating

    /// The reported firmware version.
    var firmware: FirmwareVersion {
        switch self {
        case .stock, .noService, .silentBattery, .deviating: FirmwareVersion(1, 96, 0)
        case .old: FirmwareVersion(1, 42, 0)
        case .badFirmware: FirmwareVersion(1, 1, 0)
        }
    }
}
