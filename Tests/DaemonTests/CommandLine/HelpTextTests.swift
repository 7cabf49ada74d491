import Testing

@testable import Configuration
@testable import Daemon

@Suite("Help")
struct HelpTextTests {
    private let help = HelpText(commands: CommandTable.commands)

    @Test("the program's page names every command and option")
    func program() {
        let page = help.page(for: nil)
        #expect(page.hasPrefix("NAME\n    jacquard2mqtt - bridge from Google Jacquard tags to MQTT\n\nSYNOPSIS\n"))
        #expect(page.contains("    jacquard2mqtt run [--config FILE] [--state DIR] [--log-level LEVEL]\n"))
        #expect(page.contains("    check-config   say what is wrong with the configuration\n"))
        #expect(page.hasSuffix("    3   no connection to bus, broker or bridge\n"))
    }

    @Test("a command's page explains its options", arguments: CommandTable.commands.map(\.name))
    func command(name: String) throws {
        let page = help.page(for: name)
        let command = try #require(CommandTable.commands.first { $0.name == name })
        #expect(page.hasPrefix("NAME\n    jacquard2mqtt \(name) - "))
        for option in command.options + CommandLineParser.commonOptions {
            #expect(page.contains("\n    \(option.synopsis)\n        \(option.details[0])\n"))
        }
    }

    @Test("no line is wider than a terminal", arguments: CommandTable.commands.map(\.name) + [nil])
    func width(topic: String?) {
        #expect(!help.page(for: topic).split(separator: "\n").contains { $0.count > 80 })
    }

    @Test("the version has three numbers")
    func version() {
        #expect(Version.current.split(separator: ".").compactMap { Int($0) }.count == 3)
    }
}
