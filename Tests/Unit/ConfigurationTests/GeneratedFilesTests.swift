import TestSupport
import Testing

@testable import Configuration

/// `UPDATE_GENERATED=1 swift test --filter ConfigurationTests.GeneratedFilesTests` writes the files.
@Suite("Files that are generated from the table of keys")
struct GeneratedFilesTests {
    @Test(
        "follow from the table",
        arguments: [
            ("config/jacquard2mqtt.yaml", ConfigurationExample.text),
            ("config/jacquard2mqtt.schema.json", ConfigurationSchema.text),
        ])
    func follow(path: String, text: String) throws {
        #expect(try GeneratedFile.text(of: path, generated: text) == text, "\(path)")
    }
}
