import EventLoop

/// The installed version of BlueZ. No D-Bus property contains it; `bluetoothctl` prints it.
public enum BlueZVersion {
    /// Runs `bluetoothctl --version` on the helper thread, for at most two seconds.
    ///
    /// - Parameter program: the program to run.
    /// - Returns: its output, such as `bluetoothctl: 5.66`; nil if it cannot be run.
    @LoopActor
    public static func output(of program: String = "bluetoothctl") async -> String? {
        await HelperThread.shared.run(.programs) {
            Subprocess.output(of: program, ["--version"], within: .seconds(2))
        }
    }

    /// Returns the version in the output, such as `5.66`; nil if there is none.
    public static func version(in output: String?) -> String? {
        guard let word = output?.split(whereSeparator: \.isWhitespace).last, word.contains(".") else { return nil }
        return word.allSatisfy { $0.isNumber || $0 == "." } ? String(word) : nil
    }
}
