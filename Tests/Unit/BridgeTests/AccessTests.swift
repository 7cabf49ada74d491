import Foundation
import Testing

@testable import Bridge

@Suite("Access rules")
struct AccessTests {
    private let table = AccessTable()

    @Test("are config/mosquitto/acl.conf, byte for byte")
    func delivered() throws {
        let path = URL(filePath: "../../../config/mosquitto/acl.conf", relativeTo: URL(filePath: #filePath))
        #expect(MosquittoAccessList(table).text == (try String(contentsOf: path, encoding: .utf8)))
    }

    @Test("name the base topic and the discovery prefix of the configuration")
    func otherTopics() {
        let list = MosquittoAccessList(AccessTable(base: "home/jacquard", discoveryPrefix: "ha"))
        #expect(
            list.section(of: .bridge, user: "hall") == """
                # A bridge. One user for all bridges, or one for each, with the same rules.
                user hall
                topic readwrite home/jacquard/tag/#
                topic readwrite home/jacquard/bridge/#
                topic readwrite home/jacquard/client/#
                topic read home/jacquard/group/#
                topic readwrite ha/#
                # At each start the bridge looks for announcements of earlier runs under another prefix of one level.
                topic read +/device/+/config
                topic read +/+/+/+/config

                """)
        #expect(list.text.contains("\nuser homeassistant\ntopic read home/jacquard/#\n"))
        #expect(!list.text.contains(" jacquard/"))
    }

    @Test("let a bridge publish everything that it publishes, and receive everything that it subscribes to")
    func bridge() {
        let topics = BridgeTopics(base: "jacquard", instance: "attic")
        let tag = topics.tag(.tag003R)
        for topic in topics.retained + [topics.advertisement, topics.event, topics.response("scan")]
            + TagTopicTable.retained(tag) + [
                tag.gesture, tag[.touch], tag.command("led/result"), "jacquard/client/a/response",
                "homeassistant/device/a/config",
            ]
        {
            #expect(table.mayPublish(.bridge, to: topic), "\(topic)")
        }
        let rules = table.rules(of: .bridge).filter(\.right.reads)
        for filter in topics.filters + topics.groupFilters {
            // A subscription is covered if a topic with unusual levels in place of the wildcards is.
            let topic = filter.replacing("+", with: "any")
            #expect(rules.contains { $0.matches(topic) }, "\(filter)")
        }
    }

    @Test("let Home Assistant and the administrator send every command, and automations only the listed ones")
    func commands() {
        let names = TagRequestTable.rows.map { $0.name }
        let forAdmin = ["modules/set"] + Features.commands.filter { $0.access == .admin }.map { $0.name }
        #expect(
            AccessTable.automationCommands
                == ([
                    "battery/get", "haptic/set", "info/get", "led/set", "notify/set", "rssi/get", "touch_mode/set",
                ] + Features.commands.filter { $0.access == .automation }.map { $0.name }).sorted())
        for name in names {
            let topic = "jacquard/tag/003R/\(name)"
            #expect(table.mayPublish(.homeAssistant, to: topic) == !forAdmin.contains(name), "\(name)")
            #expect(table.mayPublish(.admin, to: topic), "\(name)")
            #expect(!table.mayPublish(.dashboard, to: topic), "\(name)")
            #expect(
                table.mayPublish(.automation, to: topic) == AccessTable.automationCommands.contains(name), "\(name)")
            let group = "jacquard/group/hall/\(name)"
            for role in AccessRole.allCases where role != .bridge {
                #expect(table.mayPublish(role, to: group) == table.mayPublish(role, to: topic), "\(role) \(name)")
            }
        }
        #expect(Set(AccessTable.automationCommands).isSubset(of: names))
        let verbs = BridgeRequestTable.rows.map { $0.name }
        for verb in verbs {
            let topic = "jacquard/bridge/attic/request/\(verb)"
            #expect(table.mayPublish(.admin, to: topic), "\(verb)")
            #expect(!table.mayPublish(.automation, to: topic), "\(verb)")
            #expect(
                table.mayPublish(.homeAssistant, to: topic) == AccessTable.homeAssistantRequests.contains(verb),
                "\(verb)")
        }
    }

    @Test(
        "are tried by publishing to each topic, and by reading each and the broker's version",
        arguments: AccessRole.allCases)
    func trials(role: AccessRole) {
        let trials = table.trials(of: role, name: "probe")
        let published = trials.filter { $0.action == .publish }
        let read = trials.filter { $0.action == .read }
        #expect(published.count + read.count == trials.count)
        #expect(read.map(\.topic) == published.map(\.topic) + ["$SYS/broker/version"])
        #expect(published.allSatisfy { $0.isAllowed == table.mayPublish(role, to: $0.topic) })
        #expect(read.allSatisfy { $0.isAllowed == table.mayRead(role, from: $0.topic) })
    }

    @Test("deny what they do not list", arguments: AccessRole.allCases)
    func others(role: AccessRole) {
        for topic in ["somebody/else", "jacquardx/tag/003R/led/set", "$SYS/broker/version", ""] {
            #expect(!table.mayPublish(role, to: topic), "\(topic)")
        }
        #expect(table.mayRead(role, from: "$SYS/broker/version") == (role == .admin))
        #expect(table.mayRead(role, from: "ha/device/a/config") == (role == .bridge))
        #expect(!table.mayRead(role, from: "somebody/else"))
    }

    @Test(
        "match topics as MQTT does",
        arguments: [
            ("a/b", "a/b", true), ("a/b", "a/b/c", false), ("a/b", "a", false), ("a/+", "a/b", true),
            ("a/+", "a/", true), ("a/+", "a", false), ("a/+/c", "a/b/c", true), ("a/+/c", "a/b/d", false),
            ("a/#", "a", true), ("a/#", "a/b/c", true), ("a/#", "ab", false), ("#", "a/b", true),
            ("#", "$SYS/a", false),
            ("+/a", "$SYS/a", false), ("$SYS/#", "$SYS/a", true),
        ])
    func matching(filter: String, topic: String, isMatch: Bool) {
        #expect(AccessRule(.read, filter).matches(topic) == isMatch)
    }
}
