import Foundation
import Testing

/// The arrows as they are drawn in the Architecture article. The build refuses a module that is no dependency; this refuses
/// what a dependency list does not contain: system modules in pure code, and C libraries outside their wrapper.
@Suite("Imports")
struct ImportTests {
    private static let allowed: [String: Set<String>] = [
        "Time": [],
        "EventLoop": ["CSystemd", "Glibc", "Synchronization", "Time"],
        "Logging": ["CSystemd", "Glibc", "JSON", "Synchronization", "Text", "Time"],
        "JSON": [],
        "Text": ["JSON"],
        "CommandLine": ["JSON", "Text"],
        "ProtobufWire": [],
        "JacquardProtocol": ["ProtobufWire", "Time"],
        "Bluetooth": [],
        "DBus": ["CDBus", "EventLoop", "Glibc", "Logging", "Synchronization", "Time"],
        "BlueZ": ["Bluetooth", "DBus", "EventLoop", "Glibc", "Logging", "Time"],
        "Radios": ["Bluetooth", "EventLoop", "Logging", "Time"],
        "ESPHome": ["Bluetooth", "COpenSSL", "EventLoop", "Glibc", "Logging", "ProtobufWire", "Time"],
        "Tags": ["Bluetooth", "EventLoop", "JacquardProtocol", "Logging", "Time"],
        "Jacquard": ["Bluetooth", "EventLoop", "JacquardProtocol", "Logging", "Tags", "Time"],
        "MQTTTypes": [],
        "MQTT": [
            "CMosquitto", "CResolver", "EventLoop", "Glibc", "Logging", "MQTTTypes", "Synchronization", "Text", "Time",
        ],
        "HomeAssistant": ["JSON"],
        "GATTRecording": ["JSON", "JacquardProtocol", "Text"],
        "Bridge": ["GATTRecording", "HomeAssistant", "JSON", "JacquardProtocol", "MQTTTypes", "Text", "Time"],
        "TagFirmware": ["GATTRecording", "JacquardProtocol", "Time"],
        "FakeBlueZ": ["DBus", "EventLoop", "Glibc", "Logging", "Time"],
        "FakeProxy": ["ESPHome", "EventLoop", "FakeBlueZ", "Glibc", "Logging"],
        "Simulator": [
            "CommandLine", "DBus", "ESPHome", "EventLoop", "FakeBlueZ", "FakeProxy", "GATTRecording", "Glibc", "JSON",
            "JacquardProtocol",
            "Logging", "TagFirmware", "Terminal", "Text", "Time",
        ],
        "Configuration": ["Bridge", "CYAML", "Glibc", "HomeAssistant", "JSON", "JacquardProtocol", "Text"],
        "Terminal": [
            "CSystemd", "CommandLine", "EventLoop", "Glibc", "JSON", "Synchronization", "Text", "Time",
        ],
        "BrokerAccess": [
            "Bridge", "CommandLine", "Configuration", "EventLoop", "JSON", "JacquardProtocol", "Logging", "MQTT",
            "MQTTTypes", "Text", "Time",
        ],
        "BridgeClient": [
            "BlueZ", "Bluetooth", "Bridge", "BrokerAccess", "CommandLine", "Configuration", "DBus", "EventLoop",
            "GATTRecording", "Glibc", "HomeAssistant", "JSON", "JacquardProtocol", "Logging", "MQTT", "MQTTTypes",
            "Tags",
            "Terminal", "Text", "Time",
        ],
        "Doctor": [
            "BlueZ", "Bluetooth", "Bridge", "BrokerAccess", "CommandLine", "Configuration", "DBus", "ESPHome",
            "EventLoop", "Glibc", "JSON", "JacquardProtocol", "Logging", "MQTT", "MQTTTypes", "Terminal", "Text",
            "Time",
        ],
        "Daemon": [
            "BlueZ", "Bluetooth", "Bridge", "BrokerAccess", "CSystemd", "CommandLine", "Configuration", "DBus",
            "Doctor", "ESPHome", "EventLoop", "GATTRecording", "Glibc", "HomeAssistant", "JSON",
            "JacquardProtocol", "Logging", "MQTT", "MQTTTypes", "Radios", "Synchronization", "Tags", "Terminal", "Text",
            "Time",
        ],
        "jacquard2mqtt": ["BridgeClient", "CommandLine", "Daemon", "Doctor", "Terminal"],
        "PasswordHash": ["CCrypt", "COpenSSL", "Glibc"],
        "HTTPServer": ["CMicroHTTPD", "CSystemd", "EventLoop", "Glibc", "Logging", "Text", "Time"],
        "Web": [
            "Bridge", "BrokerAccess", "CPage", "CSystemd", "CommandLine", "Configuration", "EventLoop", "Glibc",
            "HTTPServer", "JSON", "Logging", "MQTT", "MQTTTypes", "PasswordHash", "Terminal", "Text", "Time",
        ],
        "jacquard2mqtt-web": ["Terminal", "Web"],
        "jacquard-simulator": ["Simulator", "Terminal"],
    ]

    @Test("are those that the architecture allows", arguments: allowed.keys.sorted())
    func modules(name: String) throws {
        let folder = try #require(try SourceFolders.modules[name])
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(!files.isEmpty)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            let imports = Set(text.split(separator: "\n").compactMap(Self.importedModule))
            let extra = imports.subtracting(Self.allowed[name] ?? [])
            #expect(extra.isEmpty, "\(file.lastPathComponent) imports \(extra.sorted())")
        }
    }

    @Test("of every module are checked")
    func completeness() throws {
        let modules = try SourceFolders.modules
        let libraries: Set = [
            "CSystemd", "CDBus", "CMosquitto", "CResolver", "CYAML", "CMicroHTTPD", "CCrypt", "COpenSSL", "CPage",
        ]
        #expect(Set(modules.keys).subtracting(libraries) == Set(Self.allowed.keys))
    }

    /// The module of a line such as `public import EventLoop`; nil for any other line.
    private static func importedModule(_ line: Substring) -> String? {
        var words = line.split(separator: " ")
        while let word = words.first, ["public", "package", "internal", "private", "@preconcurrency"].contains(word) {
            words.removeFirst()
        }
        return words.count >= 2 && words[0] == "import" ? String(words[1]) : nil
    }
}
