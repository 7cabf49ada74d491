import Text

/// Reads the list `gear` and finds products that are listed twice.
struct GearListReader {
    private typealias Key = GearSettings.Key

    private var findings: ConfigurationFindings
    private var products: [[String]: Section<Key>] = [:]

    /// Reads each item; one without both numbers is reported and left out.
    static func read(
        _ sections: [Section<GearSettings.Key>], _ findings: inout ConfigurationFindings
    ) -> [GearSettings] {
        if sections.count > GearSettings.mostItems {
            let item = sections[GearSettings.mostItems]
            let allowed = "at most \(GearSettings.mostItems) items"
            findings.add("one item too many", path: item.path, at: item.origin, allowed: allowed)
        }
        var reader = GearListReader(findings: findings)
        let gear = sections.prefix(GearSettings.mostItems).compactMap { reader.read($0) }
        findings = reader.findings
        return gear
    }

    private mutating func read(_ section: Section<Key>) -> GearSettings? {
        let vendorID = number(.vendorID, in: section)
        let productID = number(.productID, in: section)
        var gear = GearSettings(vendorID: vendorID ?? "", productID: productID ?? "")
        section.read(.vendor, .text(bytes: 64), into: &gear.vendor, &findings)
        section.read(.product, .text(bytes: 64), into: &gear.product, &findings)
        let capabilities: [GearSettings.Capability]? = section.values(.capabilities, .choice, &findings)
        gear.capabilities = capabilities.map { Set($0) }
        guard let vendorID, let productID else { return nil }
        if let other = products.updateValue(section, forKey: [vendorID, productID]), let node = section[.productID] {
            let problem = "the product \(vendorID) \(productID) is in \(other.path), too"
            findings.add(
                problem, path: section.path(of: .productID), at: node.origin, allowed: "each product once")
        }
        return gear
    }

    /// A number that each item must have.
    private mutating func number(_ key: Key, in section: Section<Key>) -> String? {
        let rule = ScalarRule<String>.gearNumber
        if section[key] == nil {
            findings.add("missing", path: section.path(of: key), at: section.origin, allowed: rule.allowed)
        }
        return section.value(key, rule, &findings)
    }
}
