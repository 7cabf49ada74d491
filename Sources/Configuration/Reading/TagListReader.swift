import Text

/// Reads the list `tags` and finds items that cannot be distinguished.
struct TagListReader {
    private typealias Key = TagSettings.Key

    private var findings: ConfigurationFindings
    private var serials: [String: Section<Key>] = [:]
    private var identifiers: [String: Section<Key>] = [:]
    private var addresses: [String: Section<Key>] = [:]

    /// Reads each item; one without a serial is noted and left out.
    static func read(
        _ sections: [Section<TagSettings.Key>], _ findings: inout ConfigurationFindings
    ) -> [TagSettings] {
        var reader = TagListReader(findings: findings)
        let tags = sections.compactMap { reader.read($0) }
        findings = reader.findings
        return tags
    }

    private mutating func read(_ section: Section<Key>) -> TagSettings? {
        guard let tag = values(of: section) else { return nil }
        let hasOwnSerial = checkSerial(tag, section)
        let idKey = section[.id] == nil ? Key.serial : .id
        // A serial that was reported is not reported again for the id that is made of it.
        if let other = identifiers.updateValue(section, forKey: tag.id), hasOwnSerial || idKey == .id {
            report(idKey, "is the id of \(other.path), too", section, allowed: "an id for each tag")
        }
        if let address = tag.address, let other = addresses.updateValue(section, forKey: address) {
            report(.address, "is the address of \(other.path), too", section, allowed: "an address for one tag")
        }
        return tag
    }

    private mutating func values(of section: Section<Key>) -> TagSettings? {
        let serial = section.value(.serial, .serial, &findings)
        let id = section.value(.id, .tagID, &findings)
        if section[.serial] == nil {
            let path = section.path(of: .serial)
            findings.add("missing", path: path, at: section.origin, allowed: "the serial printed on the tag")
        }
        var tag = TagSettings(serial: serial ?? "", id: id ?? serial ?? "")
        section.read(.name, .text(bytes: 128), into: &tag.name, &findings)
        section.read(.address, .address, into: &tag.address, &findings)
        section.read(.connect, .choice, into: &tag.connect, &findings)
        return serial == nil ? nil : tag
    }

    /// Two tags can have the same serial of four letters. Such tags need an id for their topics and an address.
    private mutating func checkSerial(_ tag: TagSettings, _ section: Section<Key>) -> Bool {
        guard let other = serials.updateValue(section, forKey: tag.serial) else { return true }
        guard ![section, other].allSatisfy({ $0[.id] != nil && $0[.address] != nil }) else { return true }
        let allowed = "a serial for one tag, or an id and an address for each that shares it"
        report(.serial, "is the serial of \(other.path), too", section, allowed: allowed)
        return false
    }

    private mutating func report(_ key: Key, _ problem: String, _ section: Section<Key>, allowed: String) {
        guard let node = section[key], case .scalar(let text, _) = node.content else { return }
        let problem = "\(DisplayText.quoted(text)) \(problem)"
        findings.add(problem, path: section.path(of: key), at: node.origin, allowed: allowed)
    }
}
