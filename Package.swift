// swift-tools-version: 6.2

import PackageDescription

/// One array for every target, so that no module is compiled by other rules than its neighbours.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    // A C type or another module's type in a public signature must be asked for by `public import`.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // A member is visible only where its module is imported: an import list is then the truth about a file.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // The tests run with the checks of overlapping accesses; without them, a command takes 4 % fewer instructions.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
    // Dynamic dispatch is spelled `any`, so that it is seen where it costs.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // An async function without an actor stays on its caller's: the loop's thread never wakes the global pool.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // A type on the loop's actor may conform to a protocol that knows no actor, such as the Bluetooth seam.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0470-isolated-conformances.md
    .enableUpcomingFeature("InferIsolatedConformances"),
    // A weak capture is not assigned to, and is read without a check at run time.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0481-weak-let.md
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

/// How a program is linked for use, so that as little of it as possible is in memory: the article Performance has figures. `order` is a
/// file of `deploy` with the functions that run in daily use.
func linking(order: String) -> [LinkerSetting] {
    [
        .unsafeFlags(
            [
                "-use-ld=lld",
                // Relocations in the packed form; it needs glibc 2.36.
                "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
                // Exports no symbols to libraries, so that the linker can leave out unused functions.
                "-Xlinker", "--no-export-dynamic",
                // Keeps one of equal functions whose addresses nothing compares.
                "-Xlinker", "--icf=safe",
                // What runs stands side by side: the kernel maps 64 kB around each page that is touched.
                "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/deploy/\(order)",
                "-Xlinker", "--no-warn-symbol-ordering",
                "-Xlinker", "--script=\(Context.packageDirectory)/deploy/unnamed-functions.ld",
            ], .when(configuration: .release))
    ]
}

/// The families of `Sources` with their modules.
let families = [
    "Programs": ["Daemon", "jacquard2mqtt", "jacquard2mqtt-web", "jacquard-simulator"],
    "Bridge": ["Bridge", "HomeAssistant", "Configuration"],
    "Tag": ["JacquardProtocol", "Tags", "Jacquard", "GATTRecording", "ProtobufWire"],
    "Radio": ["Bluetooth", "BlueZ", "DBus", "ESPHome", "Radios"],
    "Broker": ["MQTTTypes", "MQTT", "BrokerAccess"],
    "CommandLine": ["CommandLine", "Terminal", "BridgeClient", "Doctor"],
    "Web": ["Web", "CPage", "HTTPServer", "PasswordHash"],
    "Simulator": ["Simulator", "FakeBlueZ", "FakeProxy", "TagFirmware"],
    "Basics": ["EventLoop", "Logging", "Time", "JSON", "Text"],
    "Libraries": [
        "CSystemd", "CDBus", "CMosquitto", "CYAML", "CMicroHTTPD", "CCrypt", "CResolver", "COpenSSL",
    ],
]

/// The folder of a module.
func folder(of module: String) -> String {
    let family = families.first { $0.value.contains(module) }?.key ?? ""
    return "Sources/\(family)/\(module)"
}

/// A C library; Debian's package has its header files.
func library(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: folder(of: name), pkgConfig: pkgConfig, providers: package.map { [.apt([$0])] })
}

/// A program.
func program(_ name: String, _ dependencies: Target.Dependency..., linking: [LinkerSetting] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: folder(of: name), swiftSettings: settings,
        linkerSettings: linking)
}

/// A module; its dependency list is the arrows that the build enforces.
func module(_ name: String, _ dependencies: Target.Dependency..., linking: [LinkerSetting] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: folder(of: name), swiftSettings: settings,
        linkerSettings: linking)
}

/// A module that runs at startup, for a user's command, or with several radios only: a release build optimizes it for size, not for speed.
func coldModule(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .target(
        name: name, dependencies: dependencies, path: folder(of: name),
        swiftSettings: settings + [.unsafeFlags(["-Osize"], .when(configuration: .release))])
}

/// The rules of tests. Each process of the compiler expands the macros of its whole module: few of them compile it.
let testSettings = settings + [.unsafeFlags(["-driver-batch-size-limit", "60"], .when(configuration: .debug))]

/// The tests of the module of that name.
func tests(_ name: String, _ dependencies: Target.Dependency..., exclude: [String] = []) -> Target {
    .testTarget(
        name: name + "Tests",
        dependencies: [.target(name: name), "TestSupport"] + dependencies,
        path: "Tests/Unit/\(name)Tests",
        exclude: exclude,
        swiftSettings: testSettings)
}

let package = Package(
    name: "jacquard2mqtt",
    products: [
        .library(
            name: "Jacquard", targets: ["Jacquard", "Tags", "JacquardProtocol", "BlueZ", "Bluetooth", "EventLoop"]),
        .executable(name: "jacquard2mqtt", targets: ["jacquard2mqtt"]),
        .executable(name: "jacquard2mqtt-web", targets: ["jacquard2mqtt-web"]),
        .executable(name: "jacquard-simulator", targets: ["jacquard-simulator"]),
    ],
    targets: [
        library("CSystemd", pkgConfig: "libsystemd", package: "libsystemd-dev"),
        library("CDBus", pkgConfig: "dbus-1", package: "libdbus-1-dev"),
        library("CMosquitto", pkgConfig: "libmosquitto", package: "libmosquitto-dev"),
        library("CYAML", pkgConfig: "yaml-0.1", package: "libyaml-dev"),
        library("CMicroHTTPD", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
        library("CCrypt", pkgConfig: "libcrypt", package: "libcrypt-dev"),
        library("COpenSSL", pkgConfig: "libcrypto", package: "libssl-dev"),
        // The resolver is part of glibc.
        library("CResolver"),

        module("Time"),
        module("EventLoop", "CSystemd", "Time"),
        module("Logging", "CSystemd", "JSON", "Text", "Time"),
        module("JSON"),
        coldModule("Text", "JSON"),
        coldModule("CommandLine", "JSON", "Text"),
        module("ProtobufWire"),
        module("JacquardProtocol", "ProtobufWire", "Time"),
        module("Bluetooth"),
        module("DBus", "CDBus", "EventLoop", "Logging", "Time"),
        module("BlueZ", "DBus", "Bluetooth", "EventLoop", "Logging", "Time"),
        coldModule("Radios", "Bluetooth", "EventLoop", "Logging", "Time"),
        module("ESPHome", "Bluetooth", "COpenSSL", "EventLoop", "Logging", "ProtobufWire", "Time"),
        module("Tags", "JacquardProtocol", "Bluetooth", "EventLoop", "Logging", "Time"),
        module("Jacquard", "JacquardProtocol", "Bluetooth", "EventLoop", "Logging", "Tags", "Time"),
        module("MQTTTypes"),
        module(
            "MQTT", "CMosquitto", "CResolver", "EventLoop", "Logging", "MQTTTypes", "Text", "Time",
            // libmosquitto finds this module's lookup of names.
            linking: [.unsafeFlags(["-Xlinker", "--export-dynamic-symbol=getaddrinfo"])]),
        coldModule("HomeAssistant", "JSON"),
        coldModule("GATTRecording", "JSON", "JacquardProtocol", "Text"),
        module("Bridge", "GATTRecording", "HomeAssistant", "JSON", "JacquardProtocol", "MQTTTypes", "Text", "Time"),
        module("TagFirmware", "GATTRecording", "JacquardProtocol", "Time"),
        module("FakeBlueZ", "DBus", "EventLoop", "Logging", "Time"),
        module("FakeProxy", "ESPHome", "EventLoop", "FakeBlueZ", "Logging"),
        module(
            "Simulator", "CommandLine", "DBus", "ESPHome", "EventLoop", "FakeBlueZ", "FakeProxy", "GATTRecording",
            "JSON", "JacquardProtocol", "Logging", "TagFirmware", "Terminal", "Text", "Time"),
        coldModule("Configuration", "Bridge", "CYAML", "HomeAssistant", "JSON", "JacquardProtocol", "Text"),
        coldModule("Terminal", "CSystemd", "CommandLine", "EventLoop", "JSON", "Text", "Time"),
        coldModule(
            "BrokerAccess", "Bridge", "CommandLine", "Configuration", "EventLoop", "JSON", "JacquardProtocol",
            "Logging", "MQTT", "MQTTTypes", "Text", "Time"),
        coldModule(
            "BridgeClient", "BlueZ", "Bluetooth", "Bridge", "BrokerAccess", "CommandLine", "Configuration", "DBus",
            "EventLoop", "GATTRecording", "HomeAssistant", "JSON", "JacquardProtocol", "Logging", "MQTT", "MQTTTypes",
            "Tags", "Terminal", "Text", "Time"),
        coldModule(
            "Doctor", "BlueZ", "Bluetooth", "Bridge", "BrokerAccess", "CommandLine", "Configuration", "DBus", "ESPHome",
            "EventLoop",
            "JSON", "JacquardProtocol", "Logging", "MQTT", "MQTTTypes", "Terminal", "Text", "Time"),
        module(
            "Daemon", "BlueZ", "Bluetooth", "Bridge", "BrokerAccess", "CSystemd", "CommandLine", "Configuration",
            "DBus", "Doctor", "ESPHome", "EventLoop", "GATTRecording", "HomeAssistant", "JSON", "JacquardProtocol",
            "Logging", "MQTT", "MQTTTypes", "Radios", "Tags", "Terminal", "Text", "Time"),

        module("PasswordHash", "CCrypt", "COpenSSL"),
        module("HTTPServer", "CMicroHTTPD", "CSystemd", "EventLoop", "Logging", "Text", "Time"),
        // The page's files.
        .target(name: "CPage", path: folder(of: "CPage"), publicHeadersPath: "."),
        .target(
            name: "Web",
            dependencies: [
                "Bridge", "BrokerAccess", "CPage", "CSystemd", "CommandLine", "Configuration", "EventLoop",
                "HTTPServer", "JSON",
                "Logging", "MQTT", "MQTTTypes", "PasswordHash", "Terminal", "Text", "Time",
            ], path: folder(of: "Web"), exclude: ["Page"], swiftSettings: settings),

        program(
            "jacquard2mqtt", "BridgeClient", "CommandLine", "Daemon", "Doctor", "Terminal",
            linking: linking(order: "functions.order")),
        program("jacquard2mqtt-web", "Terminal", "Web", linking: linking(order: "web-functions.order")),
        program("jacquard-simulator", "Simulator", "Terminal"),

        .target(
            name: "TestSupport", dependencies: ["EventLoop"], path: "Tests/Support/TestSupport", swiftSettings: settings
        ),
        .target(
            name: "TagStage",
            dependencies: ["Bluetooth", "EventLoop", "JacquardProtocol", "Logging", "Tags", "TestSupport"],
            path: "Tests/Support/TagStage", swiftSettings: settings),
        .executableTarget(
            name: "UsingJacquard",
            dependencies: ["BlueZ", "Bluetooth", "EventLoop", "Jacquard", "JacquardProtocol", "Logging", "Tags"],
            path: "Tests/Support/Samples/UsingJacquard", swiftSettings: settings),
        .executableTarget(
            name: "RecordingMotion",
            dependencies: [
                "BlueZ", "Bluetooth", "EventLoop", "Jacquard", "JacquardProtocol", "Logging", "Tags", "Time",
            ],
            path: "Tests/Support/Samples/RecordingMotion", swiftSettings: settings),
        .testTarget(name: "ArchitectureTests", path: "Tests/Unit/ArchitectureTests", swiftSettings: settings),
        tests("Time"),
        tests("EventLoop", "Time"),
        tests("Logging", "Time"),
        tests("JSON"),
        tests("Text"),
        tests("CommandLine", "Text"),
        tests("ProtobufWire"),
        tests("JacquardProtocol", "ProtobufWire", "Time"),
        tests("Bluetooth"),
        tests("DBus", "EventLoop", "Logging"),
        tests("BlueZ", "Bluetooth", "DBus", "EventLoop", "FakeBlueZ", "Logging", "Simulator", "TagFirmware", "Time"),
        tests("Radios", "Bluetooth", "EventLoop", "Logging", "Time"),
        tests(
            "ESPHome", "Bluetooth", "EventLoop", "FakeProxy", "JacquardProtocol", "Logging", "Simulator", "TagFirmware",
            "Text", "Time"),
        tests("Tags", "JacquardProtocol", "Bluetooth", "EventLoop", "TagStage", "Time"),
        tests("Jacquard", "JacquardProtocol", "Bluetooth", "EventLoop", "TagStage", "Tags"),
        tests("MQTT", "EventLoop", "Logging", "Time"),
        tests("HomeAssistant", "JSON"),
        tests("GATTRecording", "JSON", "JacquardProtocol", "Text"),
        tests(
            "Bridge", "GATTRecording", "HomeAssistant", "JSON", "JacquardProtocol", "Time",
            exclude: ["HomeAssistant/recorded-device-form.txt", "HomeAssistant/recorded-single-form.txt"]),
        tests("PasswordHash"),
        tests("HTTPServer", "EventLoop", "Logging", "Time"),
        tests(
            "Web", "Bridge", "BrokerAccess", "CommandLine", "Configuration", "HTTPServer", "JSON", "MQTTTypes",
            "Terminal", "Time"),
        tests("TagFirmware", "GATTRecording", "JacquardProtocol", "Time"),
        tests("FakeBlueZ", "JacquardProtocol", "DBus", "EventLoop", "Logging", "Simulator", "TagFirmware"),
        tests(
            "Simulator", "CommandLine", "DBus", "EventLoop", "FakeBlueZ", "FakeProxy", "JacquardProtocol", "Logging",
            "TagFirmware"),
        tests("Configuration", "Bridge", "HomeAssistant", "JacquardProtocol", "Text", "Time"),
        tests("Terminal", "CommandLine"),
        tests("BrokerAccess", "Bridge", "CommandLine", "Configuration", "EventLoop", "Logging", "MQTT", "Time"),
        tests(
            "BridgeClient", "Bridge", "BrokerAccess", "CommandLine", "Configuration", "EventLoop", "GATTRecording",
            "JSON",
            "JacquardProtocol", "Logging", "MQTT", "Terminal", "Text", "Time"),
        tests(
            "Doctor", "Bridge", "BrokerAccess", "CommandLine", "Configuration", "DBus", "EventLoop", "JSON", "Logging",
            "Terminal", "Time"),
        tests(
            "Daemon", "Bluetooth", "Bridge", "CommandLine", "Configuration", "DBus", "EventLoop", "JSON",
            "JacquardProtocol", "Logging",
            "MQTT",
            "Terminal", "Text"
        ),
        tests("jacquard2mqtt", "CommandLine", "EventLoop", "Terminal"),
        .executableTarget(
            name: "soak", dependencies: ["EventLoop", "Logging", "MQTT", "TestSupport", "Time"],
            path: "Tests/Rigs/Soak",
            exclude: ["run"],
            swiftSettings: settings),
        .executableTarget(
            name: "proxy-client",
            dependencies: [
                "Bluetooth", "ESPHome", "EventLoop", "Jacquard", "JacquardProtocol", "Logging", "Tags", "Text",
            ],
            path: "Tests/Rigs/ESPHome",
            exclude: ["README.md", "proxy.py", "accepted.py", "served.py", "requirements.txt", "setup", "test"],
            swiftSettings: settings),
        .executableTarget(
            name: "simulate",
            dependencies: [
                "Bluetooth", "Bridge", "Daemon", "EventLoop", "JSON", "JacquardProtocol", "Logging", "MQTT",
                "TagFirmware", "Time",
            ],
            path: "Tests/Rigs/Simulation",
            exclude: ["recorded.json", "recorded.py", "replay.py"],
            swiftSettings: settings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "TestSupport", "DBus", "MQTT", "EventLoop", "Logging", "jacquard2mqtt", "jacquard-simulator",
            ],
            path: "Tests/EndToEnd",
            swiftSettings: testSettings),
    ]
)
