import JacquardProtocol
import TagFirmware

/// The command line.
struct SimulatorOptions: Equatable {
    var serials: [PairingSerial] = []
    var tagCount: Int?
    var bus: String?
    var adapters = 1
    var isJSON = false
    var speaksOnStandardIO = false
    var isHelpWanted = false
    var isQuick = false
    var allowsAcquireNotify = true
    var gesturesEvery: Duration?
    var mtu: UInt16?
    var tag = TagOptions()
    var profile = TagProfile.stock
    var scenario: String?

    /// All tags: those that are named, and then `0001` and on.
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

/// A command line that makes no sense: a sentence.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String
}

extension SimulatorOptions {
    /// Reads the arguments behind the program's name; a value stands behind its option or, with `=`, in it.
    ///
    /// - Throws: ``UsageError`` for an unknown option, and for a value that is missing or not allowed.
    init(arguments: [String]) throws(UsageError) {
        var rest = arguments.flatMap { argument in
            argument.hasPrefix("--") ? argument.split(separator: "=", maxSplits: 1).map(String.init) : [argument]
        }[...]
        while let option = rest.popFirst() {
            if takeFlag(option) { continue }
            guard Self.optionsWithValue.contains(option) else {
                throw UsageError(description: "unknown option \(option); see --help")
            }
            guard let value = rest.popFirst() else { throw UsageError(description: "\(option) needs a value") }
            try take(option, value)
        }
        if speaksOnStandardIO, allSerials.count != 1 {
            throw UsageError(description: "--stdio is for one tag")
        }
    }

    private mutating func takeFlag(_ option: String) -> Bool {
        switch option {
        case "--help", "-h": isHelpWanted = true
        case "--json": isJSON = true
        case "--stdio": speaksOnStandardIO = true
        case "--no-acquire": allowsAcquireNotify = false
        case "--lossy": tag.isLossy = true
        case "--write-without-response-only": tag.allowsWriteWithoutResponseOnly = true
        case "--pairing": tag.wantsPairing = true
        case "--quick": isQuick = true
        default: return false
        }
        return true
    }

    private static let optionsWithValue: Set = [
        "--tags", "--serials", "--serial", "--bus", "--adapters", "--gestures-every", "--profile", "--scenario",
        "--mtu",
    ]

    private mutating func take(_ option: String, _ value: String) throws(UsageError) {
        switch option {
        case "--tags": tagCount = try Self.number(option, value, 1...250)
        case "--adapters": adapters = try Self.number(option, value, 0...8)
        case "--mtu": mtu = UInt16(try Self.number(option, value, 23...517))
        case "--bus": bus = value
        case "--scenario": scenario = value
        case "--profile":
            guard let profile = TagProfile(rawValue: value) else {
                let allowed = TagProfile.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError(description: "--profile takes one of \(allowed), not \(value)")
            }
            self.profile = profile
            if profile == .old { tag.allowsWriteWithoutResponseOnly = true }
            if profile == .noService { tag.hasNoService = true }
        case "--gestures-every":
            guard let seconds = Double(value), (0.01...86400).contains(seconds) else {
                throw UsageError(description: "--gestures-every takes seconds from 0.01 to 86400, not \(value)")
            }
            gesturesEvery = .seconds(seconds)
        default: try takeSerials(value)
        }
    }

    private mutating func takeSerials(_ value: String) throws(UsageError) {
        for text in value.split(separator: ",", omittingEmptySubsequences: false) {
            guard let serial = PairingSerial(String(text)), text.utf8.count <= 16 else {
                throw UsageError(description: "'\(text)' is no serial; serials are of 0-9, A-Z, a-z and -")
            }
            serials.append(serial)
        }
    }

    private static func number(_ option: String, _ value: String, _ range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw UsageError(
                description: "\(option) takes a number from \(range.lowerBound) to \(range.upperBound), not \(value)")
        }
        return number
    }
}

/// A kind of tag, by what users meet.
enum TagProfile: String, CaseIterable, Sendable {
    /// An ordinary one.
    case stock
    /// With firmware before 1.43, whose command characteristic is written without response only.
    case old
    /// With firmware that the SDK refuses.
    case badFirmware = "bad-firmware"
    /// That advertises like a tag and has none of its characteristics.
    case noService = "no-service"
    /// That reports its battery only when it is asked.
    case silentBattery = "silent-battery"

    /// The reported firmware version.
    var firmware: FirmwareVersion {
        switch self {
        case .stock, .noService, .silentBattery: FirmwareVersion(1, 96, 0)
        case .old: FirmwareVersion(1, 42, 0)
        case .badFirmware: FirmwareVersion(1, 1, 0)
        }
    }
}
