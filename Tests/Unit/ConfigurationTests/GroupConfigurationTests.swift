import JacquardProtocol
import Testing

@testable import Configuration

@Suite("Groups of the configuration")
struct GroupConfigurationTests {
    private static let names = "1 to 32 of 0-9 A-Z a-z _ -, and not all"

    @Test("have a name and tags, from the file and from the environment")
    func values() throws {
        let file = "groups:\n  - {name: hall, tags: [0001, sleeve]}\n  - name: Two_b-2\n    tags: 003R\n"
        let groups = try readConfiguration(file).get().groups
        #expect(
            groups == [
                GroupSettings(name: "hall", tags: ["0001", "sleeve"]), GroupSettings(name: "Two_b-2", tags: ["003R"]),
            ])
        let variables = [
            "JACQUARD2MQTT_GROUPS__0__NAME": "hall", "JACQUARD2MQTT_GROUPS__0__TAGS": "0001, sleeve",
        ]
        let configuration = try readConfiguration("", environment: variables).get()
        #expect(configuration.tagsOfGroups.mapValues { $0.map(\.text) } == ["hall": ["0001", "sleeve"]])
    }

    @Test(
        "are reported with line, key and what is allowed when they are wrong",
        arguments: [
            ("- {tags: [a]}", "2:3: groups.0.name: missing; allowed: \(names)"),
            ("- {name: a}", "2:3: groups.0.tags: missing; allowed: the ids of 1 to 64 tags"),
            (
                "- {name: all, tags: [a]}",
                "2:10: groups.0.name: \"all\" stands for all tags on the command line; allowed: \(names)"
            ),
            ("- {name: a/b, tags: [a]}", "2:10: groups.0.name: \"a/b\" holds other characters; allowed: \(names)"),
            ("- {name: a+, tags: [a]}", "2:10: groups.0.name: \"a+\" holds other characters; allowed: \(names)"),
            ("- {name: '#', tags: [a]}", "2:10: groups.0.name: \"#\" holds other characters; allowed: \(names)"),
            ("- {name: '', tags: [a]}", "2:10: groups.0.name: \"\" is empty; allowed: \(names)"),
            ("- {name: a, tags: []}", "2:19: groups.0.tags: a list of 0; allowed: 1 to 64 items"),
            ("- {name: a, tags: [b, c, b]}", "2:19: groups.0.tags: \"b\" is there twice; allowed: each tag once"),
            (
                "- {name: a, tags: [b]}\n- {name: a, tags: [c]}",
                "3:10: groups.1.name: \"a\" is the name of groups.0, too; allowed: a name for each group"
            ),
            (
                "- {name: sleeve, tags: [b]}\ntags: [{serial: '0001', id: sleeve}]",
                "2:10: groups.0.name: \"sleeve\" is the id of a tag, too; allowed: a name that is no id"
            ),
        ])
    func errors(yaml: String, line: String) {
        guard case .failure(let errors) = readConfiguration("groups:\n" + yaml) else {
            Issue.record("\(yaml) is taken")
            return
        }
        #expect(errors.lines.count == 1 && errors.lines[0].hasSuffix(line), "\(errors.lines)")
    }

    @Test("are at most 32, with at most 64 tags each and 512 together")
    func bounds() throws {
        func file(_ groups: Int, _ tags: Int) -> String {
            let list = (0..<tags).map { "t\($0)" }.joined(separator: ",")
            return "groups:\n" + (0..<groups).map { "  - {name: g\($0), tags: [\(list)]}\n" }.joined()
        }
        #expect(try readConfiguration(file(32, 16)).get().groups.count == 32)
        for (groups, tags, text) in [(33, 1, "at most 32 items"), (1, 65, "1 to 64 items"), (9, 64, "512")] {
            guard case .failure(let errors) = readConfiguration(file(groups, tags)) else {
                Issue.record("\(groups) groups of \(tags) tags are taken")
                continue
            }
            #expect(errors.lines.count == 1 && errors.lines[0].contains(text), "\(errors.lines)")
        }
    }
}
