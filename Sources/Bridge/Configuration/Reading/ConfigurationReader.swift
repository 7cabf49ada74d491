import Text

/// The text of a file as a tree, before its meaning is known.
struct WrittenConfiguration {
    /// nil if the file is empty.
    let root: ConfigurationNode?
    /// The errors in its form.
    let findings: ConfigurationFindings

    /// - Parameter yaml: the text of the file, UTF-8; empty: all defaults.
    init(yaml: [UInt8]) {
        var findings = ConfigurationFindings()
        root = ConfigurationNodeBuilder.build(yaml, &findings)
        self.findings = findings
    }

    /// Remarks on values that are allowed and may have been meant otherwise.
    var notices: [String] { root?.notices() ?? [] }
}

/// Reads the text of the file and the environment into ``Settings``. Opens no files itself.
enum ConfigurationReader {
    /// Reads, checks and completes a configuration.
    ///
    /// - Parameters:
    ///   - written: the text of the file.
    ///   - file: its name, for messages and for relative paths.
    ///   - environment: all variables of the process; those of the product override the file.
    ///   - hostName: this host's name, for the default of `instance`.
    ///   - readPassword: reads the password from the file that `mqtt.password_file` names.
    ///   - checkFile: throws if a certificate or key that `mqtt.tls` names cannot be read.
    ///   - reflexProblem: returns what is wrong with the command of a reflex; nil if nothing is.
    /// - Returns: the configuration, or all errors in it.
    static func read(
        _ written: WrittenConfiguration,
        file: String,
        environment: [String: String],
        hostName: String,
        readPassword: @escaping (String) throws(Rejection) -> Secret,
        checkFile: @escaping (String) throws(Rejection) -> Void = { _ throws(Rejection) in },
        reflexProblem: @escaping (String) -> String? = { _ in nil }
    ) -> Result<Settings, ConfigurationErrors> {
        var findings = written.findings
        let root = EnvironmentOverlay(environment).applied(to: written.root, &findings)
        let context = ReadingContext(
            folder: ConfigurationFolder(of: file), readPassword: readPassword, checkFile: checkFile,
            reflexProblem: reflexProblem)
        var reader = KeyReader(context: context, findings: findings)
        var settings = Settings.initial
        settings.instance = InstanceName.derived(from: hostName)
        let keys = reader.read(root, at: "", Settings.keys, into: &settings)
        settings.isInstanceGiven = keys.nodes["instance"] != nil
        if case .position? = keys.nodes["mqtt.password"]?.origin { settings.mqtt.isPasswordInFile = true }
        checkHomeAssistantTopics(settings, keys.nodes, &reader.findings)
        return reader.findings.isEmpty ? .success(settings) : .failure(reader.findings.errors(in: file))
    }

    /// Reports topics of Home Assistant among those of the bridges: a command in one of them would have no result.
    private static func checkHomeAssistantTopics(
        _ settings: Settings, _ nodes: [String: ConfigurationNode], _ findings: inout ConfigurationFindings
    ) {
        let (base, homeAssistant) = (settings.mqtt.baseTopic, settings.homeAssistant)
        let topics = [
            ("home_assistant.prefix", homeAssistant.prefix, "homeassistant"),
            ("home_assistant.status_topic", homeAssistant.statusTopic, "homeassistant/status"),
        ]
        for (path, topic, example) in topics {
            guard let owner = ["\(base)/bridge", "\(base)/tag"].first(where: { "\(topic)/".hasPrefix("\($0)/") }) else {
                continue
            }
            findings.add(
                "a topic of the bridges: \(owner) begins it", path: path,
                at: (nodes[path] ?? nodes["mqtt.base_topic"])?.origin ?? .file,
                allowed: "a topic of Home Assistant, such as \(example)")
        }
    }
}
