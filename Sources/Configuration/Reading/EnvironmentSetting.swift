/// An environment variable that sets one key: `JACQUARD2MQTT_MQTT__HOST` sets `mqtt.host`.
struct EnvironmentSetting: Hashable, Sendable {
    /// What every variable of the product begins with.
    static let prefix = "JACQUARD2MQTT_"
    /// Names the configuration file; the one variable of the product that sets no key.
    static let fileVariable = "JACQUARD2MQTT_CONFIG"

    /// The variable's name.
    let variable: String
    /// Keys from the top down, a number for an item of a list.
    let path: [String]

    /// nil if the variable is not one of the product's, or is the one that names the file.
    init?(variable: String) {
        guard variable.hasPrefix(Self.prefix), variable != Self.fileVariable else { return nil }
        self.variable = variable
        path = Self.parts(of: variable.dropFirst(Self.prefix.count).lowercased())
    }

    /// What stands between double underscores. The standard library splits at one character; what splits at two is the
    /// engine of regular expressions, a megabyte of program.
    private static func parts(of name: String) -> [String] {
        var parts = [""]
        var rest = name[...]
        while let character = rest.popFirst() {
            if character == "_", rest.first == "_" {
                rest.removeFirst()
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts
    }

    /// The key in the dotted form of `ConfigurationKey.paths`, with `N` in the place of a number; nil for a name that
    /// is not all upper case.
    var key: String? {
        guard variable == variable.uppercased() else { return nil }
        return path.map { $0 == listNumber ? "N" : $0 }.joined(separator: ".")
    }

    /// The second part, if it is a number: at most three digits, none of them an idle zero.
    var listNumber: String? {
        guard path.count > 1, let number = Int(path[1]), (0...999).contains(number) else { return nil }
        return path[1] == String(number) ? path[1] : nil
    }

    /// The variable for a key in dotted form.
    func variable(for key: String) -> String {
        let path = key.split(separator: ".").map { $0 == "N" ? listNumber ?? "0" : $0.uppercased() }
        return Self.prefix + path.joined(separator: "__")
    }
}
