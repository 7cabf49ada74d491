/// Whether bluetoothd runs.
enum BluetoothServiceCheck {
    /// Says whether it runs, and if not, whether it is there.
    static func finding(_ facts: BluetoothFacts) -> Finding {
        guard facts.busError == nil else { return Finding(.bluetoothService, .skipped, "there is no system bus") }
        guard !facts.isServiceRunning else { return Finding(.bluetoothService, .ok, "running") }
        guard facts.isServiceInstalled else {
            return Finding(.bluetoothService, .failed, "not installed", remedies: ["sudo apt install bluez"])
        }
        return Finding(
            .bluetoothService, .failed, "installed, but not running",
            remedies: ["sudo systemctl enable --now bluetooth", "systemctl status bluetooth"])
    }
}
