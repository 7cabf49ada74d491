import TestSupport
import Testing

@testable import Configuration

/// `UPDATE_GENERATED=1 swift test --filter ConfigurationTests.GeneratedFilesTests` writes the files.
@Suite("Files that are generated from the table of keys")
struct GeneratedFilesTests {
    private static let addOn = "deploy/home-assistant/jacquard2mqtt"

    @Test(
        "follow from the table",
        arguments: [
            ("config/jacquard2mqtt.yaml", ConfigurationExample.text),
            ("config/jacquard2mqtt.schema.json", ConfigurationSchema.text),
            ("\(addOn)/translations/en.yaml", AddOnOptions.translation),
        ])
    func follow(path: String, text: String) throws {
        #expect(try GeneratedFile.text(of: path, generated: text) == text, GeneratedFile.remedy)
    }

    @Test("the options of the add-on follow from the table; the keys before them are written by hand")
    func options() throws {
        let path = "\(Self.addOn)/config.yaml", text = try ExampleConfiguration.file(path)
        let head = text.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0 != "options:" }
        let whole = head.joined(separator: "\n") + "\n" + AddOnOptions.configuration
        #expect(try GeneratedFile.text(of: path, generated: whole) == whole, GeneratedFile.remedy)
    }

    @Test("each key is an option of the add-on, or has a reason not to be one")
    func decided() {
        #expect(AddOnOptions.undecided == [])
    }

    /// Home Assistant shows the English text of an option without a German one.
    @Test("the German texts of the add-on are of its options")
    func translated() throws {
        let file = try ExampleConfiguration.file("\(Self.addOn)/translations/de.yaml")
        let english = try paths(AddOnOptions.translation), german = try paths(file)
        #expect(german.count > 100)
        for path in german.subtracting(english).sorted() { Issue.record("de.yaml: no option has \(path)") }
    }

    /// The keys of a translation in dotted form.
    private func paths(_ text: String) throws -> Set<String> {
        func paths(_ node: ConfigurationNode, _ path: String) -> [String] {
            guard case .section(let entries) = node.content else { return [path] }
            return entries.flatMap { paths($0.value, "\(path).\($0.key)") }
        }
        var findings = ConfigurationFindings()
        let root = try #require(ConfigurationNodeBuilder.build(Array(text.utf8), &findings))
        #expect(findings.isEmpty)
        return Set(paths(root, "").map { String($0.dropFirst()) })
    }
}
