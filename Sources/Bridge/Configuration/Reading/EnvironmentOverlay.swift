import Text

/// Lays the environment over the file: a variable wins over the key that it names.
struct EnvironmentOverlay {
    private let settings: [EnvironmentSetting]
    private let environment: [String: String]

    /// The variables of container environments that look like settings and set no key, by name.
    let ignored: [String]

    /// Picks the variables of the product; items of a list come in the order of their numbers.
    init(_ environment: [String: String]) {
        // Compose passes an empty text for a variable that the user has not set.
        let given = environment.filter { !$0.value.isEmpty }
        let settings = given.keys.compactMap(EnvironmentSetting.init(variable:)).sorted { left, right in
            let numbers = (left.listNumber.flatMap(Int.init) ?? 0, right.listNumber.flatMap(Int.init) ?? 0)
            return numbers.0 == numbers.1 ? left.variable < right.variable : numbers.0 < numbers.1
        }
        let foreign = Set(settings.filter { !$0.isKey && $0.isOfContainers(value: given[$0.variable] ?? "") })
        self.environment = given
        self.settings = settings.filter { !foreign.contains($0) }
        ignored = foreign.map(\.variable).sorted()
    }

    /// The file's tree with the variables in it; a variable that names no key is noted.
    func applied(
        to root: ConfigurationNode?, _ findings: inout ConfigurationFindings
    ) -> ConfigurationNode? {
        settings.reduce(root) { root, setting in
            guard let text = environment[setting.variable], isKnown(setting, &findings) else { return root }
            var result = root ?? .null(from: setting.variable)
            do throws(Rejection) {
                try result.set(text, at: setting.path[...], from: setting.variable)
            } catch {
                findings.add(error.reason, path: setting.path.joined(separator: "."), at: .variable(setting.variable))
            }
            return result
        }
    }

    private func isKnown(_ setting: EnvironmentSetting, _ findings: inout ConfigurationFindings) -> Bool {
        guard !setting.isKey else { return true }
        let known = Settings.keyPaths
        let origin = ConfigurationOrigin.variable(setting.variable)
        let below = (known + Settings.switchPaths).filter { $0.hasPrefix("\(setting.key ?? "").") }
            .map(setting.variable(for:))
        if below.isEmpty {
            let hint = Spelling.hint(for: setting.variable, in: known.map(setting.variable(for:)))
            let example = setting.variable(for: "mqtt.host")
            let allowed = "a key in upper case with __ for each dot, such as \(example) for mqtt.host"
            findings.add("names no key\(hint)", at: origin, allowed: allowed)
        } else {
            findings.add("names a section, not a key", at: origin, allowed: below.joined(separator: ", "))
        }
        return false
    }
}

/// An environment variable that sets one key: `JACQUARD2MQTT_MQTT__HOST` sets `mqtt.host`.
public struct EnvironmentSetting: Hashable, Sendable {
    /// The prefix of the product's variables.
    public static let prefix = "JACQUARD2MQTT_"
    /// Names the configuration file; the one variable of the product that sets no key.
    public static let fileVariable = "JACQUARD2MQTT_CONFIG"

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

    /// The key in the dotted form of `Settings.keyPaths`, with `N` in the place of a number; nil for a name that
    /// is not all upper case.
    var key: String? {
        guard variable == variable.uppercased() else { return nil }
        return path.map { $0 == listNumber ? "N" : $0 }.joined(separator: ".")
    }

    /// Whether it is the name of a key, or of a section that a value switches on.
    var isKey: Bool { key.map { (Settings.keyPaths + Settings.switchPaths).contains($0) } ?? false }

    /// Whether Kubernetes or a container link has set it, rather than the user.
    func isOfContainers(value: String) -> Bool {
        ContainerVariable.isOne(variable.dropFirst(Self.prefix.count), value: value)
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
