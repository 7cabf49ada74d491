import Text

@testable import Configuration

/// Reads a text as the configuration file `x.yaml` of the host `Attic`.
func readConfiguration(
    _ yaml: String,
    environment: [String: String] = [:],
    hostName: String = "Attic",
    readPassword: @escaping (String) throws(Rejection) -> Secret = { _ throws(Rejection) in Secret(value: "from-file") }
) -> Result<Settings, ConfigurationErrors> {
    ConfigurationReader.read(
        WrittenConfiguration(yaml: Array(yaml.utf8)), file: "/etc/x.yaml", environment: environment,
        hostName: hostName,
        readPassword: readPassword,
        reflexProblem: { text in
            ["led ", "haptic ", "notify "].contains { text.hasPrefix($0) } ? nil : "does not begin with led or haptic"
        })
}

/// The lines of all errors; empty if there is none.
func errorLines(_ yaml: String, environment: [String: String] = [:]) -> [String] {
    errorLines(readConfiguration(yaml, environment: environment))
}

/// The lines of all errors; empty if there is none.
func errorLines<Value>(_ result: Result<Value, ConfigurationErrors>) -> [String] {
    switch result {
    case .success: []
    case .failure(let failure): failure.lines
    }
}

/// The names of the keys of a section, as errors list them; of the top with an empty path.
func keyNames(of section: String) -> String {
    Settings.keyDescriptions.filter { $0.parent == section }.map(\.name).joined(separator: ", ")
}
