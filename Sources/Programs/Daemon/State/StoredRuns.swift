import Bluetooth
import Bridge
import HomeAssistant
package import JSON

/// The instance names under which this bridge has run: the contents of `runs.json`.
struct StoredRuns: Hashable, Sendable {
    /// One name in topics, with the `boot` of the latest starts under it.
    struct Instance: Hashable, Sendable {
        var name: String
        var boots: [String]
    }

    /// A place where the bridge has published.
    struct Place: Hashable, Sendable {
        var instance: String
        var base: String
        var prefix: String?
        var form: String?
    }

    /// The version of the format.
    static let version = 1
    /// Maximum number of names, and of starts per name.
    static let most = 8

    /// A file of a later version is not read.
    var version = Self.version
    /// The current name first, then former ones whose topics may still be retained.
    var instances: [Instance] = []
    /// The places at which the bridge has published, the present place first; others may have topics that are still retained.
    var places: [Place] = []
    /// The address of an adapter that is being reset (`bluetooth.reset_adapter`).
    var switchedOff: String?
    /// The bonds of proxies; nil without any.
    var proxyBonds: ProxyBonds?

    /// Adds a start under a name.
    mutating func started(_ name: String, boot: String) {
        var instance = instances.first { $0.name == name } ?? Instance(name: name, boots: [])
        instance.boots = ([boot] + instance.boots).prefix(Self.most).map(\.self)
        instances = ([instance] + instances.filter { $0.name != name }).prefix(Self.most).map(\.self)
    }

    /// Adds the place where the bridge publishes now.
    mutating func published(at place: Place) {
        places = ([place] + places.filter { $0 != place }).prefix(Self.most).map(\.self)
    }
}

extension StoredRuns: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("instances", instances)
        object.add("places", places)
        object.addIfPresent("proxy_bonds", proxyBonds)
        object.addIfPresent("switched_off", switchedOff)
        object.add("version", version)
    }

    /// Reads a file of this version; nil for anything else.
    init?(_ document: JSONValue) {
        guard document["version"]?.integer == Int64(Self.version), let elements = document["instances"]?.elements else {
            return nil
        }
        self.init(
            instances: elements.prefix(Self.most).compactMap { Instance($0) },
            places: (document["places"]?.elements ?? []).prefix(Self.most).compactMap { Place($0) },
            switchedOff: document["switched_off"]?.string,
            proxyBonds: document["proxy_bonds"].flatMap { ProxyBonds($0) })
    }
}

/// The bonds of ESPHome proxies, by the name of the radio, and by the address of the proxy's controller. A proxy has no list of them.
///
/// The name is used for a controller that has no bonds yet: that of a file of an earlier version, or of a proxy that does not send its
/// address. No name contains a colon.
package struct ProxyBonds: Hashable, Sendable {
    /// Maximum number of names and addresses.
    static let most = 64

    private var addresses: [String: [String]] = [:]

    /// No bonds.
    package init() {}

    /// The devices that a proxy has a bond with.
    func addresses(of radio: String) -> Set<BluetoothAddress> {
        Set((addresses[radio] ?? []).compactMap { BluetoothAddress($0) })
    }

    /// The devices that proxies have a bond with, by the address of the proxy's controller.
    var byController: [BluetoothAddress: Set<BluetoothAddress>] {
        let pairs = addresses.keys.compactMap { key in BluetoothAddress(key).map { ($0, addresses(of: key)) } }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Sets the bonds of a proxy. If there are too many proxies, another one is dropped.
    mutating func set(_ bonds: Set<BluetoothAddress>, of radio: String, controller: BluetoothAddress? = nil) {
        let (list, controller) = (bonds.map(\.description).sorted(), controller?.description)
        addresses[radio] = bonds.isEmpty ? nil : list
        if let controller { addresses[controller] = list }
        while addresses.count > Self.most,
            let other = addresses.keys.sorted().first(where: { $0 != radio && $0 != controller })
        {
            addresses[other] = nil
        }
    }
}

extension ProxyBonds: JSONRecord {
    /// Adds a list for each name and address.
    package func addMembers(to object: inout JSONWriter) { object.add(members: addresses) }

    fileprivate init?(_ document: JSONValue) {
        guard let members = document.members else { return nil }
        for (radio, list) in members { addresses[radio] = list.elements?.compactMap(\.string) }
    }
}

extension StoredRuns.Place: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("base_topic", base)
        object.addIfPresent("form", form)
        object.add("instance", instance)
        object.addIfPresent("prefix", prefix)
    }

    fileprivate init?(_ document: JSONValue) {
        guard let instance = document["instance"]?.string, let base = document["base_topic"]?.string else { return nil }
        self.init(
            instance: instance, base: base, prefix: document["prefix"]?.string, form: document["form"]?.string)
    }

    init(_ place: PublishedPlace) {
        self.init(
            instance: place.instance, base: place.base, prefix: place.announcement?.prefix,
            form: place.announcement?.form.rawValue)
    }

    /// The same for the bridge.
    var published: PublishedPlace {
        let form = form.flatMap { HomeAssistantConfiguration.Form(rawValue: $0) }
        let announcement = prefix.flatMap { prefix in form.map { (prefix, $0) } }
        return PublishedPlace(
            instance: instance, base: base,
            announcement: announcement.map { PublishedPlace.Announcement(prefix: $0, form: $1) })
    }
}

extension StoredRuns.Instance: JSONRecord {
    func addMembers(to object: inout JSONWriter) {
        object.add("boots", boots)
        object.add("name", name)
    }

    fileprivate init?(_ document: JSONValue) {
        guard let name = document["name"]?.string, let boots = document["boots"]?.elements else { return nil }
        self.init(name: name, boots: boots.compactMap(\.string))
    }
}
