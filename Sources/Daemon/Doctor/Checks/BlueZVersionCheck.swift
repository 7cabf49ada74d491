import Text

/// Which version of BlueZ is installed. The bus has no such property; `bluetoothctl` prints it.
enum BlueZVersionCheck {
    /// The release of Debian 12, with which the bridge is tested; older ones may work.
    private static let tested = (5, 66)

    /// Runs `bluetoothctl --version`. Blocks, at most for two seconds.
    static func probe(_ program: String = "bluetoothctl") -> String? {
        Tool.output(of: program, ["--version"], within: .seconds(2))
    }

    /// The version in what the program prints; nil where there is none.
    static func version(in output: String?) -> String? {
        guard let word = output?.split(whereSeparator: \.isWhitespace).last, word.contains(".") else { return nil }
        return word.allSatisfy { $0.isNumber || $0 == "." } ? String(word) : nil
    }

    /// Says whether the version is one that the bridge is tested with.
    ///
    /// - Parameter output: what the program prints, such as `bluetoothctl: 5.66`; nil if it did not run.
    /// - Returns: the finding; never a failure, for the bridge does without the program.
    static func finding(_ output: String?) -> Finding {
        guard let output else {
            return Finding(
                .bluezVersion, .warning, "not known, bluetoothctl cannot be run", remedies: ["sudo apt install bluez"])
        }
        let word = output.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
        let numbers = word.split(separator: ".").map { Int($0) }
        guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else {
            return Finding(.bluezVersion, .warning, "not known, bluetoothctl says \(DisplayText.quoted(output))")
        }
        guard (major, minor) >= tested else {
            return Finding(
                .bluezVersion, .warning, "\(word); the bridge is tested with \(tested.0).\(tested.1) and later",
                remedies: ["sudo apt update && sudo apt install bluez"])
        }
        return Finding(.bluezVersion, .ok, word)
    }
}
