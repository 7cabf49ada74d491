import Bridge
import BrokerAccess
import DBus
import Terminal
import TestSupport
import Testing

@testable import CommandLine
@testable import Configuration
@testable import Doctor

@Suite("Doctor: Bluetooth")
struct BluetoothChecksTests {
    private static let denied = DBusError(.refused, name: "org.freedesktop.DBus.Error.AccessDenied", text: "no")
    private static let silent = DBusError(.timeout, name: "org.freedesktop.DBus.Error.NoReply", text: "")
    private static let hci0 = BluetoothFacts.Adapter(name: "hci0", address: "F0:00:00:00:00:01", isPowered: true)
    private static let hci1 = BluetoothFacts.Adapter(name: "hci1", address: "F0:00:00:00:00:02", isPowered: false)

    private static func facts(_ change: (inout BluetoothFacts) -> Void) -> BluetoothFacts {
        var facts = BluetoothFacts()
        facts.isServiceRunning = true
        facts.adapters = [hci0, hci1]
        change(&facts)
        return facts
    }

    @Test("a tag of 2017 is reported as one that the bridge does not support")
    func snapTag() {
        #expect(SnapTagCheck.finding(Self.facts { _ in }) == nil)
        let finding = SnapTagCheck.finding(Self.facts { $0.snapTags = ["AA:BB:CC:DD:EE:FF"] })
        #expect(finding?.verdict == .warning)
        #expect(
            finding?.found
                == "AA:BB:CC:DD:EE:FF is a tag of 2017 (snap tag): this bridge supports tags of 2019 and later")
    }

    @Test("the bus is present or missing")
    func bus() {
        #expect(SystemBusCheck.finding("unix:x", nil).verdict == .ok)
        let finding = SystemBusCheck.finding("unix:x", .disconnected)
        #expect(finding.verdict == .failed)
        #expect(finding.remedies.contains("sudo systemctl start dbus"))
    }

    @Test(
        "in a container the bus is missing or denies access",
        arguments: [
            ("FileNotFound", "the host's bus is not in this container", "docker run -v"),
            ("NoServer", "the host's bus is not in this container", "docker run -v"),
            ("AuthFailed", "no such user", "--userns host"),
        ])
    func busOfHost(name: String, found: String, remedy: String) {
        let error = DBusError(.disconnected, name: "org.freedesktop.DBus.Error." + name, text: "no such user")
        let finding = SystemBusCheck.finding("unix:x", error, isInContainer: true)
        #expect(finding.verdict == .failed)
        #expect(finding.found.contains(found))
        #expect(finding.remedies.first?.contains(remedy) == true)
    }

    @Test(
        "bluetoothd runs, is stopped, or is missing",
        arguments: [
            (facts { _ in }, true, .ok, nil),
            (facts { $0.isServiceRunning = false }, true, .failed, "sudo systemctl enable --now bluetooth"),
            (facts { $0.isServiceRunning = false }, false, .failed, "sudo apt install bluez"),
            (facts { $0.busError = .disconnected }, true, .skipped, nil),
        ] as [(BluetoothFacts, Bool, Finding.Verdict, String?)])
    func service(facts: BluetoothFacts, isInstalled: Bool, verdict: Finding.Verdict, remedy: String?) {
        let finding = BluetoothServiceCheck.finding(facts, Cause.Surroundings(isServiceInstalled: isInstalled))
        #expect(finding.verdict == verdict)
        #expect(finding.remedies.first == remedy)
    }

    @Test("in a container the bluetoothd of the host is meant, and no BlueZ is needed")
    func container() {
        let missing = Self.facts { $0.isServiceRunning = false }
        let surroundings = Cause.Surroundings(isInContainer: true, isServiceInstalled: false)
        let service = BluetoothServiceCheck.finding(missing, surroundings)
        #expect(service.verdict == .failed && service.remedies.last == "on the host: sudo apt install bluez")
        let version = BlueZVersionCheck.finding(nil, isInContainer: true)
        #expect(version.verdict == .skipped && version.remedies.isEmpty)
    }

    @Test(
        "the policy of the bus allows or denies access",
        arguments: [
            (facts { _ in }, .ok, nil),
            (facts { $0.callError = denied }, .failed, "sudo adduser \"$USER\" bluetooth"),
            (facts { $0.callError = silent }, .failed, "sudo systemctl restart bluetooth"),
            (facts { $0.isServiceRunning = false }, .skipped, nil),
            (facts { $0.busError = .disconnected }, .skipped, nil),
        ] as [(BluetoothFacts, Finding.Verdict, String?)])
    func policy(facts: BluetoothFacts, verdict: Finding.Verdict, remedy: String?) {
        let finding = BluetoothPolicyCheck.finding(facts)
        #expect(finding.verdict == verdict)
        #expect(finding.remedies.first == remedy)
    }

    @Test(
        "the version is new, old or unknown",
        arguments: [
            ("bluetoothctl: 5.66", .ok), ("bluetoothctl: 5.82\n", .ok), ("bluetoothctl: 6.0", .ok),
            ("bluetoothctl: 5.55", .warning), ("bluetoothctl: 4.101", .warning), ("nonsense", .warning),
            ("", .warning), (nil, .warning),
        ] as [(String?, Finding.Verdict)])
    func version(output: String?, verdict: Finding.Verdict) {
        #expect(BlueZVersionCheck.finding(output).verdict == verdict)
    }

    @Test(
        "the configured adapter is on, off or missing",
        arguments: [
            (facts { _ in }, .automatic, .ok), (facts { _ in }, .name("hci0"), .ok),
            (facts { _ in }, .name("hci1"), .failed), (facts { _ in }, .name("hci2"), .failed),
            (facts { _ in }, .address("F0:00:00:00:00:01"), .ok),
            (facts { _ in }, .address("F0:00:00:00:00:03"), .failed),
            (facts { $0.adapters = [] }, .automatic, .failed), (facts { $0.adapters = [hci1] }, .automatic, .failed),
            (facts { $0.callError = silent }, .automatic, .skipped),
        ] as [(BluetoothFacts, Settings.Bluetooth.Adapter, Finding.Verdict)])
    func adapter(facts: BluetoothFacts, choice: Settings.Bluetooth.Adapter, verdict: Finding.Verdict) {
        #expect(AdapterCheck.finding(facts, choice).verdict == verdict)
    }

    @Test(
        "Wi-Fi shares a chip when one device holds both, or two drivers are the halves of one chip",
        arguments: [
            ("/usb/1-1", "btusb", "/usb/1-1", "rtw", Finding.Verdict.warning),
            ("/serial0", "hci_uart_bcm", "/mmc1", "brcmfmac", .warning), ("/usb/1-1", "btusb", "/pci", "rtw", .ok),
            ("", "", "", "", .ok),
        ])
    func sharedChip(holder: String, driver: String, other: String, otherDriver: String, verdict: Finding.Verdict) {
        let bluetooth = SharedChipCheck.Radio(name: "hci0", holder: holder, driver: driver)
        let wireless = SharedChipCheck.Radio(name: "wlan0", holder: other, driver: otherDriver)
        #expect(SharedChipCheck.finding(([bluetooth], [wireless])).verdict == verdict)
        #expect(SharedChipCheck.finding(([bluetooth], [])).verdict == .ok)
    }

    @Test("a blocked radio is found in the kernel's list")
    func rfkill() throws {
        let folder = try TemporaryFolder()
        #expect(RadioSwitchCheck.finding(RadioSwitchCheck.probe(folder.path)).verdict == .ok)
        let radios: [(String, String, String, String)] = [
            ("rfkill0", "wlan", "1", "1"), ("rfkill1", "bluetooth", "1", "0"),
        ]
        for (entry, type, soft, hard) in radios {
            try folder.make(entry, ["type": type, "soft": soft, "hard": hard, "name": "radio of \(entry)"])
        }
        let finding = RadioSwitchCheck.finding(RadioSwitchCheck.probe(folder.path))
        #expect(finding.verdict == .failed)
        #expect(finding.remedies == ["sudo rfkill unblock bluetooth"])
        let hard = RadioSwitchCheck.Radio(name: "hci0", isSoftBlocked: true, isHardBlocked: true)
        #expect(RadioSwitchCheck.finding([hard]).found.contains("switch"))
    }
}
