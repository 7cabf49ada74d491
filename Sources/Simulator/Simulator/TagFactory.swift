import EventLoop
import GATTRecording
import JacquardProtocol
import TagFirmware
import Text

/// Makes the tags that the command line asks for.
@LoopActor
enum TagFactory {
    /// Tags with addresses from `F0:00:00:00:00:01` on. The first one is in a jacket, the others in the gear of the
    /// catalogue's end, backwards, so that a few tags show all of it. With a recording, the first tag plays it back.
    ///
    /// - Throws: ``CommandError`` if the recording cannot be read.
    static func tags(_ options: SimulatorOptions) throws(CommandError) -> [SimulatedTag] {
        var replay: Replay?
        if let file = options.replay { replay = try Replay(file: file, speed: options.speed) }
        return options.allSerials.enumerated().map { index, serial in
            let gear = ["jacket", "patch-b0", "backpack", "konnect-i", "patch-a0"]
            var tagOptions = options.tag
            let replay = index == 0 ? replay : nil
            if replay?.allowsWriteWithoutResponseOnly == true { tagOptions.allowsWriteWithoutResponseOnly = true }
            tagOptions.rssi -= Int16(index % 40)
            if options.isQuick { tagOptions.supervisionTimeout = .milliseconds(100) }
            var identity = FirmwareIdentity(serial: serial)
            identity.firmware = options.profile.firmware
            var firmware = Firmware(identity, gear: SimulatedGear(word: gear[index % gear.count]))
            firmware.announcesBattery = options.profile != .silentBattery && options.profile != .deviating
            if options.profile == .deviating { firmware.faults = .deviating }
            firmware.replay = replay
            firmware.sleepsByItself = options.sleeps
            let tag = SimulatedTag(firmware, address: address(index + 1), options: tagOptions)
            tag.adapterPlaces = options.places + (options.proxyPlace.map { [$0] } ?? [])
            return tag
        }
    }

    private static func address(_ number: Int) -> String {
        let byte = [UInt8(truncatingIfNeeded: number)].hex.uppercased()
        return "F0:00:00:00:00:" + byte
    }
}

extension FirmwareFaults {
    /// Differs from what clients expect, for tests of reports.
    fileprivate static var deviating: FirmwareFaults {
        var faults = FirmwareFaults()
        faults.unansweredOpcodes = [.batteryStatus]
        faults.refusesStore = true
        faults.notifiesUnknown = true
        return faults
    }
}
