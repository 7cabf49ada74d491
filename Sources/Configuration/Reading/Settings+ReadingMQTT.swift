import Text

extension Settings.MQTT {
    /// Reads the section `mqtt`.
    init(
        _ section: Section<Key>, instance: String, _ context: ReadingContext, _ findings: inout ConfigurationFindings
    ) {
        self.init(clientID: Self.clientID(of: instance))
        if section[.tls] != nil {
            readTLS(section, context, &findings)
        }
        section.read(.host, .hostName, into: &host, &findings)
        port = section.value(.port, .integer(1...65535), &findings) ?? (tls == nil ? 1883 : 8883)
        section.read(.version, .choice, into: &version, &findings)
        section.read(.baseTopic, .topic, into: &baseTopic, &findings)
        section.read(.clientID, .text(bytes: 128), into: &clientID, &findings)
        section.read(.username, Self.credential.hidden(), into: &username, &findings)
        // The seconds travel in two bytes, and libmosquitto refuses fewer than five.
        // Source: MQTT 5.0, section 3.1.2.10; mosquitto.h, `mosquitto_connect`.
        section.read(.keepalive, .wholeSeconds(5...65535), into: &keepalive, &findings)
        readPassword(section, context, &findings)
    }

    /// A section, or `true` for the defaults, or `false` for none.
    private mutating func readTLS(
        _ section: Section<Key>, _ context: ReadingContext, _ findings: inout ConfigurationFindings
    ) {
        if let node = section[.tls], !node.isNull, case .scalar = node.content {
            let rule = ScalarRule<Bool>(
                allowed: "true, false, or the keys \(Settings.TLS.Key.names.joined(separator: ", "))"
            ) {
                text throws(Rejection) in try ScalarRule.boolean.parse(text)
            }
            if section.value(.tls, rule, &findings) == true { tls = Settings.TLS() }
        } else {
            tls = Settings.TLS(section.section(.tls, &findings), context, &findings)
        }
    }

    /// A text of MQTT has at most 65,535 bytes. Source: MQTT 5.0, 1.5.4.
    private static var credential: ScalarRule<String> { .text(bytes: 65535) }

    private mutating func readPassword(
        _ section: Section<Key>, _ context: ReadingContext, _ findings: inout ConfigurationFindings
    ) {
        let inline = Self.credential.hidden().map { text throws(Rejection) in Secret(value: text) }
        section.read(.password, inline, into: &password, &findings)
        if case .position = section[.password]?.origin { isPasswordInFile = true }
        guard let file = section[.passwordFile] else { return }
        guard section[.password] == nil else {
            let path = section.path(of: .passwordFile)
            findings.add("set together with mqtt.password", path: path, at: file.origin, allowed: "one of the two")
            return
        }
        let stored = ScalarRule(allowed: "the path of a file with one line") { text throws(Rejection) in
            try context.readPassword(try ScalarRule<String>.text(bytes: 4095).parse(text))
        }
        section.read(.passwordFile, stored, into: &password, &findings)
        if password != nil, case .scalar(let text, _) = file.content { passwordFile = text }
    }
}

extension Settings.TLS {
    /// Reads the section `mqtt.tls`.
    init(_ section: Section<Key>, _ context: ReadingContext, _ findings: inout ConfigurationFindings) {
        let file = ScalarRule<String>.path(in: context.folder).map { path throws(Rejection) in
            try context.checkFile(path)
            return path
        }
        section.read(.authorityFile, file, into: &authorityFile, &findings)
        section.read(.certificateFile, file, into: &certificateFile, &findings)
        section.read(.keyFile, file, into: &keyFile, &findings)
        section.read(.insecure, .boolean, into: &isInsecure, &findings)
        Self.require(.certificateFile, with: .keyFile, in: section, &findings)
        Self.require(.keyFile, with: .certificateFile, in: section, &findings)
    }

    private static func require(
        _ missing: Key, with present: Key, in section: Section<Key>, _ findings: inout ConfigurationFindings
    ) {
        guard let node = section[present], section[missing] == nil else { return }
        let problem = "set without \(section.path(of: missing))"
        findings.add(problem, path: section.path(of: present), at: node.origin, allowed: "both or none of the two")
    }
}
