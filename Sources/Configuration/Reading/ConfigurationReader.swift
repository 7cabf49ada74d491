import Text

/// Makes a configuration of texts: the file's and the environment's. Opens nothing itself.
enum ConfigurationReader {
    /// Reads, checks and completes a configuration.
    ///
    /// - Parameters:
    ///   - yaml: the text of the file, UTF-8; empty: all defaults.
    ///   - file: its name, for messages and for relative paths.
    ///   - environment: all variables of the process; those of the product win over the file.
    ///   - hostName: this host's name, for the default of `instance`.
    ///   - readPassword: fetches the password from the file that `mqtt.password_file` names.
    ///   - checkFile: says why a certificate or key that `mqtt.tls` names cannot be read.
    /// - Returns: the configuration, or everything that is wrong with it.
    static func read(
        yaml: [UInt8],
        file: String,
        environment: [String: String],
        hostName: String,
        readPassword: @escaping (String) throws(Rejection) -> Secret,
        checkFile: @escaping (String) throws(Rejection) -> Void = { _ throws(Rejection) in }
    ) -> Result<Settings, ConfigurationErrors> {
        var findings = ConfigurationFindings()
        let written = ConfigurationNodeBuilder.build(yaml, &findings)
        let root = EnvironmentOverlay(environment).applied(to: written, &findings)
        let context = ReadingContext(
            folder: ConfigurationFolder(of: file), hostName: hostName, readPassword: readPassword,
            checkFile: checkFile)
        let section = Section<Settings.Key>(root, path: "", &findings)
        let configuration = Settings(section, context, &findings)
        return findings.isEmpty ? .success(configuration) : .failure(findings.errors(in: file))
    }
}
