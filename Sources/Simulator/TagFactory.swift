import EventLoop
import JacquardProtocol
import TagFirmware

/// Makes the tags that the command line asks for.
@LoopActor
enum TagFactory {
    /// Tags with addresses from `F0:00:00:00:00:01` on. The first one is in a jacket, the others in the gear of the
    /// catalogue's end, backwards, so that a few tags show all of it.
    static func tags(_ options: SimulatorOptions) -> [SimulatedTag] {
        options.allSerials.enumerated().map { index, serial in
            let gear = ["jacket", "patch-b0", "backpack", "konnect-i", "patch-a0"]
            var tagOptions = options.tag
            tagOptions.rssi -= Int16(index % 40)
            if options.isQuick { tagOptions.supervisionTimeout = .milliseconds(100) }
            var identity = FirmwareIdentity(serial: serial)
            identity.firmware = options.profile.firmware
            var firmware = Firmware(identity, gear: SimulatedGear(word: gear[index % gear.count]))
            firmware.announcesBattery = options.profile != .silentBattery
            return SimulatedTag(firmware, address: address(index + 1), options: tagOptions)
        }
    }

    private static func address(_ number: Int) -> String {
        let byte = [UInt8(truncatingIfNeeded: number)].hex.uppercased()
        return "F0:00:00:00:00:" + byte
    }
}
