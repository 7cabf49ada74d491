import JacquardProtocol

/// A condition that needs attention.
public struct Problem: Hashable, Sendable {
    /// The kind of problem. The raw values are part of the public interface.
    public enum Code: String, Sendable, CaseIterable {
        case notPermitted = "not_permitted"
        case noAdapter = "no_adapter"
        case adapterNotReady = "adapter_not_ready"
        case discoveryFailed = "discovery_failed"
        case radioLost = "radio_lost"
        case radioTaken = "radio_taken"
        case noBondHere = "no_bond_here"
        case badFirmware = "bad_firmware"
        case tagUnusable = "tag_unusable"
        case inUse = "in_use"
        case subscriptionStuck = "subscription_stuck"
        case lostBond = "peer_removed_pairing_info"
        case duplicateSerial = "duplicate_serial"
        case idTaken = "id_taken"
        case eventsDropped = "events_dropped"
        case brokerRefuses = "broker_refuses"
        case brokerStalled = "broker_stalled"
        case identifierInUse = "client_id_in_use"
        case stateNotSaved = "state_not_saved"
        case stateDamaged = "state_damaged"
        case metricsNotWritten = "metrics_not_written"
        case deletedInHomeAssistant = "deleted_in_home_assistant"
    }

    /// Identifies a problem over time, independent of its text.
    struct Key: Hashable, Sendable {
        let code: Code
        /// The adapter, tag or serial; empty for the bridge itself.
        let subject: ExactText
    }

    let key: Key
    let text: String

    init(_ code: Code, about subject: String = "", _ text: String) {
        key = Key(code: code, subject: ExactText(subject))
        self.text = text
    }

    /// Whether the problem prevents all publications.
    var isFatal: Bool {
        switch key.code {
        case .notPermitted, .noAdapter, .brokerStalled: true
        default: false
        }
    }
}

extension Problem {
    /// Creates the problem of a file that cannot be written.
    init(_ file: UnwritableFile) {
        switch file.purpose {
        case .state:
            self.init(
                .stateNotSaved,
                "Known tags cannot be saved in \(file.path): \(file.reason). Changes since then are lost at a restart")
        case .metrics:
            self.init(.metricsNotWritten, "Metrics cannot be written to \(file.path): \(file.reason)")
        }
    }

    /// Upper bound on records named in one document.
    private static let maxDamagedRecords = 8

    /// Returns the problems of a state file that was damaged: one for each record whose tag is not known again, or one
    /// for the whole file.
    static func problems(of damage: DamagedState, isKnown: (String) -> Bool) -> [Problem] {
        let advice = "The damaged file is kept as \(damage.keptAs)"
        guard !damage.records.isEmpty else {
            return [
                Problem(
                    .stateDamaged, "The file of known tags was damaged: pair again tags that are missing. \(advice)")
            ]
        }
        let missing = damage.records.filter { record in record.serial.map { !isKnown($0) } ?? true }
        return missing.prefix(maxDamagedRecords).map { record in
            Problem(
                .stateDamaged, about: record.name,
                "The record of tag \(record.name) was damaged (\(record.reason)): pair the tag again. \(advice)")
        }
    }

    /// Creates the problem of a radio that cannot be used.
    init(of radio: String, _ adapter: AdapterFacts) {
        guard !adapter.isTaken else {
            self.init(
                .radioTaken, about: radio,
                "Radio \(radio) is in use by another program, such as Home Assistant: \(adapter.error ?? ""). Remove it "
                    + "there, or from bluetooth.radios here, then restart the bridge. It is tried again within an hour")
            return
        }
        self.init(
            .radioLost, about: radio,
            "Radio \(radio) cannot be used: \(adapter.error ?? "it is \(adapter.state.text)")")
    }

    /// Returns the problem of several devices with the serial of one tag.
    static func duplicate(_ serial: String) -> Problem {
        Problem(
            .duplicateSerial, about: serial,
            "Several devices show the serial \(serial); the bridge keeps using the known one. If both are your tags, "
                + "list both in the configuration, with address and id. If the tag has another address now, forget it and "
                + "pair it again")
    }
}

extension Problem.Code {
    /// Creates the problem of a failed connection; nil for failures that end without intervention.
    init?(_ code: TagConnectionError.Code) {
        switch code {
        case .peerRemovedPairingInfo: self = .lostBond
        case .inUse: self = .inUse
        case .subscriptionStuck: self = .subscriptionStuck
        case .serviceDiscoveryError, .characteristicDiscoveryError, .bluetoothNotificationUpdateError,
            .unconnectableTag, .jacquardInitializationError, .malformedResponseError:
            self = .tagUnusable
        case .unknownBluetoothError, .bluetoothConnectionError, .bluetoothDeviceNotFound,
            .bluetoothPowerOff, .connectionTimeout:
            return nil
        }
    }
}

extension Problem.Code {
    /// The check of `doctor` to which the problem belongs.
    public var check: Check {
        switch self {
        case .notPermitted: .bluetoothPolicy
        case .noAdapter, .adapterNotReady: .adapter
        case .discoveryFailed: .discovery
        case .radioLost, .radioTaken: .radio
        case .noBondHere, .lostBond: .bond
        case .badFirmware: .firmware
        case .tagUnusable, .inUse, .subscriptionStuck: .link
        case .duplicateSerial: .duplicateSerials
        case .deletedInHomeAssistant: .homeAssistant
        case .eventsDropped, .brokerRefuses, .brokerStalled, .identifierInUse: .broker
        case .stateNotSaved, .stateDamaged, .metricsNotWritten, .idTaken: .bridge
        }
    }

    /// How `doctor` judges the problem: whether the bridge cannot do its work.
    public var verdict: Finding.Verdict {
        switch self {
        case .notPermitted, .noAdapter, .brokerStalled, .discoveryFailed, .identifierInUse: .failed
        default: .warning
        }
    }
}
