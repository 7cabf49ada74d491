import Testing

@testable import Configuration

@Suite("Settings of the web page")
struct WebSettingsTests {
    private func read(_ yaml: String) -> Result<WebSettings, ConfigurationErrors> {
        WebSettings.read(Array(yaml.utf8), file: "/etc/web.yaml") { $0.hasPrefix("$y$") }
    }

    @Test("have defaults that only this host can reach")
    func defaults() throws {
        let settings = try read("").get()
        #expect(settings == WebSettings())
        #expect(settings.address == "127.0.0.1" && settings.port == 8377)
        #expect(settings.refusal(at: settings.address) == nil)
    }

    @Test("are all read")
    func all() throws {
        let settings = try read(
            """
            address: 192.0.2.1
            port: 443
            users:
              - name: ada
                password: $y$j9T$x
                role: admin
            tls:
              certificate_file: web.crt
              key_file: /etc/web.key
            trusted_origins:
              - https://Home.example
            behind_proxy: true
            ingress: false
            metrics: true
            metrics_socket: metrics.sock
            metrics_socket_group: telegraf
            """
        ).get()
        #expect(settings.address == "192.0.2.1" && settings.port == 443)
        #expect(settings.users.map(\.name) == ["ada"] && settings.users.map(\.role) == ["admin"])
        #expect(settings.certificateFile == "/etc/web.crt" && settings.keyFile == "/etc/web.key")
        #expect(settings.trustedOrigins == ["https://home.example"])
        #expect(settings.isBehindProxy && !settings.isIngress && settings.hasMetrics)
        #expect(settings.metricsSocket == "/etc/metrics.sock" && settings.metricsSocketGroup == "telegraf")
    }

    @Test("are documented by the example with their defaults")
    func example() throws {
        let lines = try ExampleConfiguration.file("config/jacquard2mqtt-web.yaml").split(separator: "\n")
        let defaults = lines.filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }.map { $0.dropFirst() }
        #expect(try read(defaults.joined(separator: "\n")).get() == WebSettings())
        let text = lines.joined(separator: "\n")
        for key in WebSettings.keys { #expect(text.contains("\(key):"), "\(key)") }
        let lists = lines.filter {
            $0.hasPrefix("# users:") || $0.hasPrefix("# tls:") || $0.hasPrefix("#   ")
                || $0.hasPrefix("# metrics_socket")
        }
        let settings = try read(lists.map { $0.dropFirst(2) }.joined(separator: "\n")).get()
        #expect(settings.users.map(\.name) == ["ada"] && settings.keyFile == "/etc/web.key")
        #expect(settings.metricsSocket != nil && settings.metricsSocketGroup != nil)
    }

    @Test(
        "refuse metrics that everyone or no program could read",
        arguments: [
            ("metrics: true\ningress: true", "/etc/web.yaml:1:10: metrics: true with ingress"),
            ("metrics: true\nbehind_proxy: true", "/etc/web.yaml:1:10: metrics: true behind a proxy without users"),
        ])
    func metrics(yaml: String, message: String) {
        guard case .failure(let errors) = read(yaml) else {
            Issue.record("accepted")
            return
        }
        #expect(errors.lines.contains { $0.hasPrefix(message) }, "\(errors.lines)")
    }

    @Test("accept a path of a Unix socket up to its limit, with or without metrics, also with ingress")
    func metricsSocket() throws {
        let longest = "/" + String(repeating: "s", count: 106)
        let settings = try read("ingress: true\nmetrics_socket: \(longest)").get()
        #expect(settings.metricsSocket == longest && settings.metricsSocketGroup == nil && !settings.hasMetrics)
        guard case .failure(let errors) = read("metrics_socket: \(longest)s") else {
            Issue.record("accepted")
            return
        }
        let line = try #require(errors.lines.first)
        #expect(line.hasPrefix("/etc/web.yaml:1:17: metrics_socket: a path of 108 bytes"), "\(line)")
        #expect(errors.lines.joined().contains("of at most 107 bytes"))
    }

    @Test("refuse an address of other hosts without users, and without encryption")
    func refusals() throws {
        var settings = WebSettings()
        #expect(settings.refusal(at: "0.0.0.0")?.contains("users") == true)
        #expect(settings.refusal(at: "::")?.contains("users") == true)
        #expect(settings.refusal(at: "192.0.2.1") != nil)
        #expect(settings.refusal(at: "127.9.9.9") == nil && settings.refusal(at: "::1") == nil)
        #expect(settings.refusal(at: "127.0.0.1.evil") != nil)
        settings.users = try read("users:\n  - {name: a, password: $y$x, role: viewer}").get().users
        #expect(settings.refusal(at: "0.0.0.0")?.contains("tls") == true)
        settings.isBehindProxy = true
        #expect(settings.refusal(at: "0.0.0.0") == nil)
        settings = WebSettings()
        settings.isIngress = true
        #expect(settings.refusal(at: "0.0.0.0") == nil)
    }

    @Test("report an address that other hosts reach with its line, if the page opens it itself")
    func addressLine() throws {
        let yaml = Array("port: 8377\naddress: 0.0.0.0\n".utf8)
        let isHash: (String) -> Bool = { _ in true }
        #expect(throws: Never.self) { try WebSettings.read(yaml, file: "w.yaml", isPasswordHash: isHash).get() }
        guard case .failure(let errors) = WebSettings.read(yaml, file: "w.yaml", listens: true, isPasswordHash: isHash)
        else {
            Issue.record("accepted")
            return
        }
        #expect(
            errors.lines == [
                "w.yaml:2:10: address: 0.0.0.0 can be reached from other hosts: add users, or set address to 127.0.0.1"
            ])
    }

    @Test("report each file of TLS that cannot be read, with its line, if they are to be read")
    func certificates() {
        let yaml = Array("tls:\n  certificate_file: /nonexistent/a\n  key_file: /nonexistent/b\n".utf8)
        let isHash: (String) -> Bool = { _ in true }
        #expect(throws: Never.self) { try WebSettings.read(yaml, file: "w.yaml", isPasswordHash: isHash).get() }
        let lines = errorLines(
            WebSettings.read(yaml, file: "w.yaml", readsCertificate: true, isPasswordHash: isHash))
        #expect(lines.count == 2, "\(lines)")
        for (line, start) in zip(
            lines,
            [
                #"w.yaml:2:21: tls.certificate_file: "/nonexistent/a" cannot be read: "#,
                #"w.yaml:3:13: tls.key_file: "/nonexistent/b" cannot be read: "#,
            ])
        { #expect(line.hasPrefix(start), "\(line)") }
    }

    @Test("refuse a name with a colon, which cannot log in", arguments: ["a:b", ":", "ada:", "a: b"])
    func colon(name: String) {
        let lines = errorLines(read("users:\n  - {name: '\(name)', password: $y$x, role: admin}\n"))
        #expect(lines.count == 1, "\(lines)")
        #expect(
            lines.first?.hasPrefix("/etc/web.yaml:2:12: users.0.name: ") == true
                && lines.first?.contains("holds a colon, which ends the name in a login (HTTP Basic)") == true,
            "\(lines)")
    }

    private static let wrong: [(yaml: String, part: String)] = [
        ("adress: 1.2.3.4", "did you mean"), ("address: localhost", "IP address"), ("port: 70000", "port"),
        ("users: none", "not a list"), ("users:\n  - name: a", "missing"),
        ("users:\n  - {name: a, password: secret, role: admin}", "hash"),
        ("users:\n  - {name: a, password: $y$x, role: root}", "viewer"),
        ("users:\n  - {name: a, password: $y$x, role: admin}\n  - {name: a, password: $y$x, role: admin}", "same name"),
        ("tls:\n  key_file: x", "certificate_file"), ("tls: true", "keys"),
        ("trusted_origins: [home.example]", "origin"), ("trusted_origins: ['https://a/b']", "origin"),
        ("metrics_socket_group: a", "without metrics_socket"), ("metrics_socket: [a]", "not one value"),
        ("behind_proxy: perhaps", "true"), ("<<: {port: 1}", "cannot be merged"), ("[]", "keys"), ("a: [", "web.yaml"),
    ]

    @Test("report what is wrong, and never show a password", arguments: wrong)
    func errors(yaml: String, part: String) throws {
        guard case .failure(let errors) = read(yaml) else { return #expect(Bool(false), "accepted: \(yaml)") }
        #expect(errors.description.contains(part), "\(errors)")
        #expect(!errors.description.contains("secret"))
    }
}
