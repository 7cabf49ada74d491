import JacquardProtocol
import Text

/// Finds items of the list `tags` that cannot be distinguished.
struct TagListCheck {
    private typealias Item = ReadItem<TagSettings>

    private var findings: ConfigurationFindings
    private var serials: [String: Item] = [:]
    private var identifiers: [TagID: Item] = [:]
    private var addresses: [String: Item] = [:]

    /// Reports duplicates, and returns the tags that have a serial.
    static func usable(_ items: [ReadItem<TagSettings>], _ findings: inout ConfigurationFindings) -> [TagSettings] {
        var check = TagListCheck(findings: findings)
        let usable = items.filter { $0.keys.valid.contains("serial") }
        for item in usable { check.add(item) }
        findings = check.findings
        return usable.map(\.value)
    }

    private mutating func add(_ item: Item) {
        let hasOwnSerial = checkSerial(item)
        let idKey = item.keys.nodes["id"] == nil ? "serial" : "id"
        // A serial that was reported is not reported again for the id that is derived from it.
        if let other = identifiers.updateValue(item, forKey: item.value.id), hasOwnSerial || idKey == "id" {
            report(idKey, "is the id of \(other.keys.path), too", item, allowed: "an id for each tag")
        }
        if let address = item.value.address, let other = addresses.updateValue(item, forKey: address) {
            report("address", "is the address of \(other.keys.path), too", item, allowed: "an address for one tag")
        }
    }

    /// Two tags can have the same serial of four letters. Such tags need an id for their topics and an address.
    private mutating func checkSerial(_ item: Item) -> Bool {
        guard let other = serials.updateValue(item, forKey: item.value.serial) else { return true }
        let haveBoth = [item, other].allSatisfy { $0.keys.nodes["id"] != nil && $0.keys.nodes["address"] != nil }
        guard !haveBoth else { return true }
        let allowed = "a serial for one tag, or an id and an address for each that shares it"
        report("serial", "is the serial of \(other.keys.path), too", item, allowed: allowed)
        return false
    }

    private mutating func report(_ key: String, _ problem: String, _ item: Item, allowed: String) {
        guard let node = item.keys.nodes[key], case .scalar(let text, _) = node.content else { return }
        let problem = "\(DisplayText.quoted(text)) \(problem)"
        findings.add(problem, path: DisplayText.path(item.keys.path, key), at: node.origin, allowed: allowed)
    }
}

/// Finds products that the list `gear` contains twice.
enum GearListCheck {
    /// Reports duplicates, and returns the items that have both numbers.
    static func usable(_ items: [ReadItem<GearSettings>], _ findings: inout ConfigurationFindings) -> [GearSettings] {
        var products: [[String]: String] = [:]
        let usable = items.filter { $0.keys.valid.isSuperset(of: ["vendor_id", "product_id"]) }
        for item in usable {
            let numbers = [item.value.vendorID, item.value.productID]
            guard let other = products.updateValue(item.keys.path, forKey: numbers),
                let node = item.keys.nodes["product_id"]
            else { continue }
            findings.add(
                "the product \(numbers.joined(separator: " ")) is in \(other), too",
                path: DisplayText.path(item.keys.path, "product_id"), at: node.origin, allowed: "each product once")
        }
        return usable.map(\.value)
    }
}
