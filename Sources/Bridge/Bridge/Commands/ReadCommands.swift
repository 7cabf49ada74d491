import JSON
import JacquardProtocol

/// `battery/get`: reads the battery level and returns it in the result.
struct BatteryGet: TagRequest {
    static let name = "battery/get"
    static var access: CommandAccess { .automation }
    static var isResultRecorded: Bool { true }

    let command: TagCommand? = .batteryStatus

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        guard case .battery(let battery) = response else { return TagRequestOutcome() }
        tag.batteryReported(battery, at: now, &effects)
        return TagRequestOutcome(data: CommandData(tag.batteryDocument))
    }
}

/// `info/get`: reads device information of the tag or its gear and returns the document of `T/info` or `T/gear`; or
/// lists the tag's loadable modules.
struct InfoGet: TagRequest {
    static let name = "info/get"
    static var access: CommandAccess { .automation }
    static let keys = ["component"]

    let command: TagCommand?

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        let arguments = try CommandArguments(emptyOrObject: payload, with: "component")
        let tag = TagCommand.deviceInformation(of: .tag)
        command =
            try arguments.word(
                "component",
                of: [Word("tag", tag), Word("gear", .deviceInformation(of: .gear)), Word("modules", .listModules)])
            ?? tag
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        switch (command, response) {
        case (.deviceInformation(of: .tag), .component(let component)):
            tag.informationReported(component, &effects)
            return TagRequestOutcome(data: CommandData(tag.infoDocument))
        case (.deviceInformation(of: .gear), .component(let component)):
            tag.gearReported(component, at: now, &effects)
            return TagRequestOutcome(data: CommandData(GearDocument(gear: tag.gear.latest)))
        case (_, .modules): return TagRequestOutcome(response, aboutModulesOf: &tag, at: now, &effects)
        default: return TagRequestOutcome()
        }
    }
}

/// `rssi/get`: the last measured signal strength and the time of the measurement.
///
/// The Bluetooth stack measures only advertisements, and a connected tag does not advertise. The value therefore
/// belongs to the advertisement that led to the connection, or to a later one. Earlier measurements are not used.
struct SignalGet: TagRequest {
    static let name = "rssi/get"
    static var access: CommandAccess { .automation }

    let command: TagCommand? = nil

    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        guard let measured = tag.signal.measured else {
            return TagRequestOutcome(
                failure: CommandFailure(
                    .unsupported, "The signal of tag \(tag.entry.id) has not been measured for this link",
                    hint: "Bluetooth measures advertisements, and a connected tag sends none"))
        }
        let data = CommandData { object in
            object.add("rssi", measured.value)
            object.add("time", measured.at)
        }
        tag.signalRead(measured.value, at: now, &effects)
        return TagRequestOutcome(data: data)
    }
}
