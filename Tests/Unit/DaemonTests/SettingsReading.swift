import Text

@testable import Configuration

/// Reads a text as a configuration file.
func settings(_ yaml: String) throws -> Settings {
    try ConfigurationReader.read(
        WrittenConfiguration(yaml: Array(yaml.utf8)), file: "/etc/x.yaml", environment: [:], hostName: "attic",
        readPassword: { _ throws(Rejection) in Secret(value: "from-file") }
    ).get()
}
