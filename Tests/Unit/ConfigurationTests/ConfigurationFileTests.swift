import Glibc
import TestSupport
import Testing

@testable import Configuration

@Suite("Configuration file")
struct ConfigurationFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("--config takes precedence over the environment, and the environment over the default")
    func order() throws {
        for name in ["option", "variable", "default"] {
            try folder.write("instance: \(name)", to: name)
        }
        func instance(path: String?, variable: String?) throws -> String {
            let environment = variable.map { ["JACQUARD2MQTT_CONFIG": $0] } ?? [:]
            return try load(path: path, environment, defaultPath: folder.path("default")).get().configuration.instance
        }
        #expect(try instance(path: folder.path("option"), variable: folder.path("variable")) == "option")
        #expect(try instance(path: nil, variable: folder.path("variable")) == "variable")
        #expect(try instance(path: nil, variable: "") == "default")
        #expect(try instance(path: nil, variable: nil) == "default")
    }

    @Test("a named file that is missing is an error")
    func missing() {
        let path = folder.path("missing")
        let line = "\(path): cannot be read: No such file or directory"
        #expect(errorLines(load(path: path)) == [line])
        #expect(errorLines(load(path: nil, ["JACQUARD2MQTT_CONFIG": path])) == [line])
    }

    @Test("without the default file every key has its default, and a notice says so")
    func missingDefault() throws {
        let loaded = try load(path: nil, defaultPath: folder.path("missing")).get()
        #expect(loaded.configuration.mqtt.host == "127.0.0.1")
        #expect(loaded.notices.first == "there is no such file: every key has its default")
        #expect(loaded.file == folder.path("missing"))
    }

    @Test("a folder and a file that is too large are errors")
    func unreadable() throws {
        #expect(
            errorLines(load(path: folder.path)) == [
                "\(folder.path): cannot be read: it is a folder, not a regular file"
            ])
        try folder.write(String(repeating: "#", count: ConfigurationFile.sizeLimit), to: "full")
        #expect(errorLines(load(path: folder.path("full"))) == [])
        try folder.write(String(repeating: "#", count: ConfigurationFile.sizeLimit + 1), to: "large")
        let line = "\(folder.path("large")): cannot be read: larger than 1048576 bytes"
        #expect(errorLines(load(path: folder.path("large"))) == [line])
    }

    @Test(
        "a certificate that cannot be read is an error with its key",
        arguments: ["ca_file", "certificate_file", "key_file"])
    func certificate(key: String) throws {
        let partner =
            ["certificate_file": ", key_file: good.pem", "key_file": ", certificate_file: good.pem"][key] ?? ""
        try folder.write("x", to: "good.pem")
        try folder.write("", to: "empty.pem")
        for (name, problem) in [
            ("good.pem", nil), ("none.pem", "cannot be read: No such file or directory"),
            ("empty.pem", "is an empty file"),
        ] {
            try folder.write("mqtt: {tls: {\(key): \(name)\(partner)}}", to: "x.yaml")
            let lines = errorLines(load(path: folder.path("x.yaml")))
            #expect(lines.count == (problem == nil ? 0 : 1))
            guard let problem else { continue }
            #expect(lines.first?.contains("mqtt.tls.\(key): \"\(name)\" \(problem); allowed: a path") == true)
        }
    }

    @Test("an unreadable file is reported with the group that may read it")
    func forbidden() throws {
        try folder.write("instance: a", to: "x.yaml")
        #expect(FileError(EACCES).reason(for: folder.path("x.yaml")).hasPrefix("Permission denied; use sudo"))
        #expect(FileError(ENOENT).reason(for: folder.path("x.yaml")) == "No such file or directory")
        #expect(chown(folder.path, uid_t.max, 1) == 0)
        let reason = FileError(EACCES).reason(for: folder.path("none/x.yaml"))
        #expect(reason.hasPrefix("Permission denied; use sudo, or join the group "))
        #expect(reason.hasSuffix(", then log in again"))
    }

    @Test(
        "a world-readable password is a notice",
        arguments: [
            (0o644, "mqtt: {username: u, password: p}", 1), (0o640, "mqtt: {username: u, password: p}", 0),
            (0o644, "mqtt: {username: u}", 0),
        ])
    func permissions(mode: Int, yaml: String, count: Int) throws {
        try folder.write(yaml, to: "x.yaml", mode: mode)
        let notices = try load(path: folder.path("x.yaml")).get().notices
        #expect(notices.count { $0.hasPrefix("every user may read the file") } == count)
    }

    @Test(
        "a password file is relative to the configuration's folder; its byte order mark and newline are removed",
        arguments: [
            "secret", "secret\n", "secret\r\n", "\u{FEFF}secret\r\n",
        ])
    func passwordFile(text: String) throws {
        try folder.write(text, to: "password")
        try folder.write("mqtt: {username: u, password_file: password}", to: "x.yaml", mode: 0o644)
        let loaded = try load(path: folder.path("x.yaml")).get()
        #expect(loaded.configuration.mqtt.password == Secret(value: "secret"))
        #expect(!loaded.configuration.mqtt.isPasswordInFile)
    }

    @Test("a bare name is looked up in systemd's credentials first")
    func credential() throws {
        let credentials = try TemporaryFolder()
        try credentials.write("from systemd", to: "password")
        try folder.write("from the folder", to: "password")
        try folder.write("beside", to: "other")
        for (name, expected) in [("password", "from systemd"), ("./password", "from the folder"), ("other", "beside")] {
            try folder.write("mqtt: {username: u, password_file: \(name)}", to: "x.yaml")
            let loaded = try load(path: folder.path("x.yaml"), ["CREDENTIALS_DIRECTORY": credentials.path]).get()
            #expect(loaded.configuration.mqtt.password == Secret(value: expected))
        }
    }

    @Test(
        "a password file without a password is an error that contains none",
        arguments: [
            ("", "is an empty file"), ("\n", "is an empty file"), ("secret\nsecret", "holds more than one line"),
            ("secret\n\n", "holds more than one line"), ("sec\tret", "holds a control character"),
            (String(repeating: "s", count: 70000), "cannot be read: File too large"),
        ])
    func badPasswordFile(text: String, reason: String) throws {
        try folder.write(text, to: "password")
        try folder.write("mqtt: {password_file: password}", to: "x.yaml")
        let message = "mqtt.password_file: \"password\" \(reason); allowed: the path of a file with one line"
        #expect(errorLines(load(path: folder.path("x.yaml"))) == ["\(folder.path("x.yaml")):1:23: \(message)"])
    }

    private func load(
        path: String?, _ environment: [String: String] = [:], defaultPath: String = "/nowhere"
    ) -> Result<LoadedConfiguration, ConfigurationErrors> {
        ConfigurationFile.load(path: path, environment: environment, defaultPath: defaultPath)
    }
}
