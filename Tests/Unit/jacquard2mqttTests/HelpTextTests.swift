import Testing

@testable import CommandLine
@testable import jacquard2mqtt

@Suite("Help")
struct HelpTextTests {
    private let table = Program.table

    @Test("the program's page names every command and option")
    func program() {
        let page = table.help(for: nil)
        #expect(page.hasPrefix("NAME\n    jacquard2mqtt - bridge from Google Jacquard tags to MQTT\n\nSYNOPSIS\n"))
        #expect(page.contains("    jacquard2mqtt run [--config FILE] [--state DIR] [--log-level LEVEL]\n"))
        #expect(page.contains("    check-config     check the configuration\n"))
        #expect(page.hasSuffix("    3   no connection to bus, broker or bridge\n"))
    }

    @Test("a command's page explains its options", arguments: Program.table.descriptions.map(\.name))
    func command(name: String) throws {
        let page = table.help(for: name)
        let command = try #require(table.descriptions.first { $0.name == name })
        #expect(page.hasPrefix("NAME\n    jacquard2mqtt \(name) - "))
        #expect(!["\nFILES\n", "\nENVIRONMENT\n", "\nEXIT STATUS\n"].contains { page.contains($0) })
        for option in command.options + OptionDescription.common {
            #expect(page.contains("\n    \(option.synopsis)\n        \(option.details[0])\n"))
        }
    }

    @Test("no line is wider than a terminal", arguments: Program.table.descriptions.map(\.name) + [nil])
    func width(topic: String?) {
        #expect(!table.help(for: topic).split(separator: "\n").contains { $0.count > 80 })
    }

    @Test("the version has three numbers")
    func version() {
        #expect(Version.current.split(separator: ".").compactMap { Int($0) }.count == 3)
    }
}
