/// Lays the environment over the file: a variable wins over the key that it names.
struct EnvironmentOverlay {
    private let settings: [EnvironmentSetting]
    private let environment: [String: String]

    /// Picks the variables of the product; items of a list come in the order of their numbers.
    init(_ environment: [String: String]) {
        self.environment = environment
        settings = environment.keys.compactMap(EnvironmentSetting.init(variable:)).sorted { left, right in
            let numbers = (left.listNumber.flatMap(Int.init) ?? 0, right.listNumber.flatMap(Int.init) ?? 0)
            return numbers.0 == numbers.1 ? left.variable < right.variable : numbers.0 < numbers.1
        }
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

    /// The one section that can be replaced by a word: `true` or `false`.
    private static let tls = "mqtt.tls"

    private func isKnown(_ setting: EnvironmentSetting, _ findings: inout ConfigurationFindings) -> Bool {
        let known = Configuration.Key.paths
        if let key = setting.key, known.contains(key) || key == Self.tls { return true }
        let origin = ConfigurationOrigin.variable(setting.variable)
        let below = known.filter { $0.hasPrefix("\(setting.key ?? "").") }.map(setting.variable(for:))
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
