import CommandLine
import EventLoop
import Terminal
import TestSupport
import Testing

@testable import Web

@Suite("Certificate of the page")
struct PageCertificateTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        for name in ["page", "other"] {
            let arguments = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-keyout", "\(folder.path)/\(name).key", "-out", "\(folder.path)/\(name).crt",
            ]
            let made = Subprocess.output(of: "openssl", arguments, within: .seconds(30))
            try #require(made != nil)
        }
        _ = try folder.write("empty.key", "")
    }

    private func page(_ certificate: String, _ key: String) throws -> String {
        try folder.write("web.yaml", "port: 0\ntls: {certificate_file: \(certificate), key_file: \(key)}\n")
    }

    private static let context = CommandContext(environment: [:]) { [] }

    @Test(
        "check-config fails without the files, or if they don't belong together",
        arguments: [
            ("page.crt", "page.key", .done), ("page.crt", "other.key", .failed), ("page.key", "page.crt", .failed),
            ("page.crt", "empty.key", .failed), ("missing.crt", "page.key", .failed),
        ] as [(String, String, ExitCode)])
    func checkConfig(certificate: String, key: String, code: ExitCode) throws {
        #expect(CheckPageCommand(web: try page(certificate, key)).run(in: Self.context) == code)
    }

    @Test(
        "a wrong file ends the page with the status of a wrong configuration",
        arguments: [("page.crt", "other.key"), ("missing.crt", "page.key")])
    func serve(certificate: String, key: String) throws {
        let config = try folder.write("config.yaml", "mqtt: {host: 127.0.0.1}\n")
        let command = ServeCommand(config: config, web: try page(certificate, key), runtime: folder.path)
        #expect(command.run(in: Self.context) == .wrongUsage)
    }
}
