import JSON
import Testing
import Text

@testable import CommandLine

@Suite("Table of commands")
struct CommandTableTests {
    @Test("a command is defined by its row")
    func row() throws {
        let json = OptionDescription(name: "--json", value: nil, details: ["Print JSON."])
        let pair = Command<String>(
            name: "pair", summary: "pair a tag", details: ["Pairs a tag."], options: [json],
            operands: [.required("SERIAL")]
        ) { arguments throws(CommandLineError) in
            arguments.operands.joined() + (arguments.options["--json"] == nil ? "" : " as JSON")
        }
        let table = Self.table([pair])
        #expect(pair.description.synopsis == "pair [--json] SERIAL")
        #expect(try table.parse(["pair", "003R"]) == .command("003R"))
        #expect(try table.parse(["pair", "--json", "--", "-b-a"]) == .command("-b-a as JSON"))
        #expect(throws: CommandLineError(message: "SERIAL is missing", command: "pair")) { try table.parse(["pair"]) }
        #expect(throws: CommandLineError(message: "--json takes no value", command: "pair")) {
            try table.parse(["pair", "--json=1", "003R"])
        }
    }

    @Test("every table has the commands and options for help")
    func common() throws {
        let table = Self.table([Self.light])
        #expect(table.descriptions.map(\.name) == ["light", "help"])
        #expect(try table.parse(["--help"]) == .help(topic: nil))
        #expect(try table.parse(["light", "--nonsense", "-h"]) == .help(topic: "light"))
        #expect(try table.parse(["help", "light"]) == .help(topic: "light"))
        #expect(try table.parse(["--version"]) == .version)
        #expect(throws: CommandLineError(message: "unknown command \"lihgt\" (did you mean light?)")) {
            try table.parse(["lihgt"])
        }
        #expect(throws: CommandLineError(message: "unknown command \"x\"", command: "help")) {
            try table.parse(["help", "x"])
        }
    }

    @Test("a value passes its rule, and the error names the option and what is allowed")
    func rule() throws {
        let table = Self.table([Self.light])
        #expect(try table.parse(["light", "--level", "3", "on"]) == .command("3 on"))
        #expect(try table.parse(["light", "--level=3"]) == .command("3 off"))
        let error = CommandLineError(message: "--level: \"9\" is out of range; allowed: 1 to 5", command: "light")
        #expect(throws: error) { try table.parse(["light", "--level", "9"]) }
        #expect(throws: CommandLineError(message: "--level is given twice", command: "light")) {
            try table.parse(["light", "--level", "1", "--level", "2"])
        }
    }

    @Test("an error has two lines for people and a document for machines")
    func error() {
        let error = CommandLineError(message: "SERIAL is missing", command: "pair")
        #expect(error.lines(of: "sample") == ["sample: SERIAL is missing", "Try \"sample pair --help\"."])
        #expect(error.document(of: "sample")["error"]?["code"] == "usage")
        #expect(error.document(of: "sample")["error"]?["hint"] == "sample pair --help")
    }

    @Test("a page of help has the sections of its command; that of the program has the files, once")
    func help() {
        let table = Self.table([Self.light])
        let page = """
            NAME
                sample light - switch a light

            SYNOPSIS
                sample light [--level N] [STATE]

            DESCRIPTION
                Switches it.

            OPTIONS
                --level N
                    How bright.
                --help
                    Print this help; -h is the same.
                --version
                    Print the version.

            """
        #expect(table.help(for: "light") == page)
        #expect(table.help(for: nil).hasSuffix("\n\nFILES\n    /etc/sample\n"))
        #expect(table.help(for: nil).contains("COMMANDS\n    light   switch a light\n    help    explain a command\n"))
    }

    @Test("a hidden command has a page, and is on no other one")
    func hidden() throws {
        let tags = Command<String>(
            name: "tags", summary: "list tags", details: ["Lists them."], options: [], isHidden: true
        ) { _ throws(CommandLineError) in "tags" }
        let table = Self.table([Self.light, tags])
        #expect(try table.parse(["help", "tags"]) == .help(topic: "tags"))
        #expect(try table.parse(["tags", "--help"]) == .help(topic: "tags"))
        #expect(table.help(for: "tags").hasPrefix("NAME\n    sample tags - list tags\n"))
        #expect(!table.help(for: nil).contains("tags") && !table.help(for: "light").contains("tags"))
    }

    @Test("a program without commands has options and operands")
    func programWithoutCommands() throws {
        let row = Command<String>(
            name: "", summary: "a sample", details: ["Samples."], options: [Self.level], operands: [.required("FILE")]
        ) { arguments throws(CommandLineError) in
            "\(try arguments.value(of: Self.level, .integer(1...5)) ?? 1) \(arguments.operands[0])"
        }
        let table = CommandTable(
            program: ProgramDescription(name: "sample", summary: "a sample", details: ["Samples."], sections: []),
            command: row)
        #expect(try table.parse(["--level", "2", "a"]) == .command("2 a"))
        #expect(try table.parse(["--nonsense", "--help"]) == .help(topic: nil))
        #expect(try table.parse(["--version"]) == .version)
        #expect(throws: CommandLineError(message: "FILE is missing")) { try table.parse([]) }
        #expect(throws: CommandLineError(message: "unknown option \"--lvl\" (did you mean --level?)")) {
            try table.parse(["--lvl", "a"])
        }
        #expect(
            table.help(for: nil).hasPrefix("NAME\n    sample - a sample\n\nSYNOPSIS\n    sample [--level N] FILE\n"))
        #expect(table.descriptions.count == 1)
        #expect(table.manualPage(date: "d").contains("\n.Nm\n.Op Fl -level Ar N\n.Ar FILE\n"))
    }

    @Test("a manual page has a line for each sentence, and escapes what roff interprets")
    func manualPage() {
        let command = Command<String>(
            name: "go", summary: "go",
            details: [".a is a file. Use --level or a\\b.", "'x' is a word.", "", "Another one."],
            options: [Self.level], operands: [.optional("ID")],
            json: ["{\"level_now\",", "\"to\",\"at\"}; to is a level."], examples: ["go --level 1"]
        ) { _ throws(CommandLineError) in "" }
        let page = Self.table([command]).manualPage(date: "November 20, 2026")
        #expect(page.contains("\n.Dd November 20, 2026\n.Dt SAMPLE 1\n"))
        #expect(
            page.contains(
                "\n.It Cm go Op Ar ID\n\\&.a is a file.\nUse \\-\\-level or a\\eb. 'x' is a word.\n.Pp\nAnother one.\n")
        )
        #expect(page.contains("\n.Bl -tag -width Ds\n.It Fl -level Ar N\nHow bright.\n.El\n"))
        #expect(
            page.contains(
                "\n.Fl -json :\n.Bd -ragged -compact\n\\%{\"level_now\", \\%\"to\",\\:\"at\"}; to is a level.\n.Ed\n"))
        #expect(page.contains("\n.Dl sample go \\-\\-level 1\n"))
        #expect(page.contains("\n.Sh FILES\n"))
    }

    private static let light = Command<String>(
        name: "light", summary: "switch a light", details: ["Switches it."], options: [level],
        operands: [.optional("STATE")]
    ) { arguments throws(CommandLineError) in
        let level = try arguments.value(of: level, .integer(1...5)) ?? 1
        let state = try arguments.optionalOperand(0, "STATE", .choice(of: ["on", "off"])) ?? "off"
        return "\(level) \(state)"
    }

    private static let level = OptionDescription(name: "--level", value: "N", details: ["How bright."])

    private static func table(_ commands: [Command<String>]) -> CommandTable<String> {
        CommandTable(
            program: ProgramDescription(
                name: "sample", summary: "a sample", details: ["Nothing."],
                sections: [HelpSection("FILES", ["/etc/sample"])]),
            commands: commands)
    }
}
