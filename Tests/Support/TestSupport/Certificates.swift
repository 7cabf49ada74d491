public import EventLoop

/// Two authorities, certificates of a broker at `localhost` and of a client, made by the openssl program.
public struct Certificates: Sendable {
    private let folder: ScratchFolder

    /// Makes `authority`, `other`, `broker` and `client`, the last two signed by the first.
    ///
    /// - Throws: when openssl does not do it.
    @LoopActor
    public init() async throws {
        folder = try ScratchFolder()
        try await make("authority", "/CN=Test authority")
        try await make("other", "/CN=Other authority")
        try await make("broker", "/CN=broker", "-addext", "subjectAltName=DNS:localhost", signer: "authority")
        try await make("client", "/CN=client", signer: "authority")
    }

    /// The path of a certificate (`broker.crt`) or its key (`broker.key`).
    public func path(_ name: String) -> String { folder.path + "/" + name }

    /// Lines of mosquitto.conf for a listener that is encrypted.
    public var brokerOptions: [String] {
        ["cafile \(path("authority.crt"))", "certfile \(path("broker.crt"))", "keyfile \(path("broker.key"))"]
    }

    /// Replaces the broker's certificate by one that expired yesterday.
    ///
    /// - Throws: when openssl does not do it.
    @LoopActor
    public func expireBroker() async throws {
        try await run(
            "openssl",
            ["req", "-new", "-key", path("broker.key"), "-subj", "/CN=broker", "-out", path("broker.csr")]
                + ["-addext", "subjectAltName=DNS:localhost"])
        try await run(
            "openssl",
            ["x509", "-req", "-in", path("broker.csr"), "-copy_extensions", "copy", "-days", "-1"]
                + ["-CA", path("authority.crt"), "-CAkey", path("authority.key"), "-out", path("broker.crt")])
    }

    @LoopActor
    private func make(_ name: String, _ subject: String, _ extra: String..., signer: String? = nil) async throws {
        let signing = signer.map { ["-CA", path("\($0).crt"), "-CAkey", path("\($0).key")] } ?? []
        try await run(
            "openssl",
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
                + ["-subj", subject, "-keyout", path("\(name).key"), "-out", path("\(name).crt")] + extra + signing)
        // The broker gives up its rights before it reads its key.
        try await run("chmod", ["644", path("\(name).key")])
    }

    @LoopActor
    private func run(_ name: String, _ arguments: [String]) async throws {
        let program = try Program(name, arguments)
        try await until("the end of \(name)") { program.hasEnded }
        guard program.exitStatus == 0 else { throw Overdue(description: "\(name): \(program.printed)") }
    }
}
