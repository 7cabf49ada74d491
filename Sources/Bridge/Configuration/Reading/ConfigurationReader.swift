import Text

/// Reads the text of the file and the environment into ``Settings``. Opens no files itself.
enum ConfigurationReader {
    /// Reads, checks and completes a configuration.
    ///
    /// - Parameters:
    ///   - yaml: the text of the file, UTF-8; empty: all defaults.
    ///   - file: its name, for messages and for relative paths.
    ///   - environment: all variables of the process; those of the product override the file.
    ///   - hostName: this host's name, for the default of `instance`.
    ///   - readPassword: reads the password from the file that `mqtt.password_file` names.
    ///   - checkFile: throws if a certificate or key that `mqtt.tls` names cannot be read.
    ///   - reflexProblem: returns what is wrong with the command of a reflex; nil if nothing is.
    /// - Returns: the configuration, or all errors in it.
    static func read(
        yaml: [UInt8],
        file: String,
        environment: [String: String],
        hostName: String,
        readPassword: @escaping (String) throws(Rejection) -> Secret,
        checkFile: @escaping (String) throws(Rejection) -> Void = { _ throws(Rejection) in },
        reflexProblem: @escaping (String) -> String? = { _ in nil }
    ) -> Result<Settings, ConfigurationErrors> {
        var findings = ConfigurationFindings()
        let written = ConfigurationNodeBuilder.build(yaml, &findings)
        let root = EnvironmentOverlay(environment).applied(to: written, &findings)
        let context = ReadingContext(
            folder: ConfigurationFolder(of: file), readPassword: readPassword, checkFile: checkFile,
            reflexProblem: reflexProblem)
        var reader = KeyReader(context: context, findings: findings)
        var settings = Settings.initial
        settings.instance = InstanceName.derived(from: hostName)
        let keys = reader.read(root, at: "", Settings.keys, into: &settings)
        settings.isInstanceGiven = keys.nodes["instance"] != nil
        if case .position? = keys.nodes["mqtt.password"]?.origin { settings.mqtt.isPasswordInFile = true }
        checkStatusTopic(settings, keys.nodes, &reader.findings)
        return reader.findings.isEmpty ? .success(settings) : .failure(reader.findings.errors(in: file))
    }

    /// Reports a topic of Home Assistant's state that is one of a bridge, which would then answer no command in it.
    private static func checkStatusTopic(
        _ settings: Settings, _ nodes: [String: ConfigurationNode], _ findings: inout ConfigurationFindings
    ) {
        let base = settings.mqtt.baseTopic
        let path = "home_assistant.status_topic"
        guard
            let owner = ["\(base)/bridge", "\(base)/tag"].first(where: { owner in
                settings.homeAssistant.statusTopic == owner || settings.homeAssistant.statusTopic.hasPrefix(owner + "/")
            })
        else { return }
        let node = nodes[path] ?? nodes["mqtt.base_topic"]
        findings.add(
            "a topic of the bridges: \(owner) begins it", path: path, at: node?.origin ?? .file,
            allowed: "the topic of Home Assistant's birth message, such as homeassistant/status")
    }
}
