import JacquardProtocol

/// How a changed value takes effect when a running bridge reads its configuration again.
public enum ReloadEffect: Hashable, Sendable {
    /// The bridge connects to the broker again.
    case reconnection
    /// The bridge uses the new value from then on.
    case settings
    /// As `settings`, for `log.level`.
    case logLevel
    /// As `settings`, for `metrics`.
    case metrics
    /// As `settings`, for the list `gear`.
    case gear
    /// Tags are added, changed and removed.
    case tags
    /// None until the next start of the bridge.
    case nextStart
    /// None: another key is compared in its place.
    case none
}

/// The description of a key in the table, without access to its value.
struct KeyDescription: Sendable {
    /// The kind of value below a key.
    enum Kind: Sendable {
        /// One value, or a list of words.
        case value
        /// Keys; with a switch, `true` and `false` as well.
        case section(hasSwitch: Bool, [KeyRelation])
        /// Items with keys of their own; at most `limit` of them.
        case list(items: [KeyDescription], limit: Int?)
    }

    /// The key in dotted form, such as `mqtt.tls.ca_file`; for a key of an item, from the item down.
    private(set) var path: String
    /// The last part of the key.
    let name: String
    /// The key of the section that it stands in; empty at the top.
    private(set) var parent: String
    /// One sentence about the key, for the JSON schema.
    let sentence: String
    /// How a changed value takes effect.
    let effect: ReloadEffect
    /// The kind of its value; of a list without its items, unless the description is that of the whole table.
    var kind: Kind
    /// The words of JSON Schema for its value.
    var schema: SchemaNode = [:]
    /// The default where it is a constant, as JSON.
    var defaultValue: SchemaNode?
    /// For a required key: what to set it to.
    var requirement: String?
    /// Whether its value is never printed.
    var isSecret = false
    /// Its part of the example configuration.
    var example = KeyExample()
    /// Whether the add-on offers it; nil inside of a section that it does not offer.
    var addOn: AddOnOption?

    init(path: String, sentence: String, effect: ReloadEffect, kind: Kind) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "."))
        (self.path, self.sentence, self.effect, self.kind) = (path, sentence, effect, kind)
        name = end.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        parent = end.map { String(path[..<$0]) } ?? ""
    }

    /// The description of an item's key, with its path from the top.
    func inItems(of list: String) -> KeyDescription {
        var description = self
        description.path = "\(list).N.\(path)"
        description.parent = parent.isEmpty ? "\(list).N" : "\(list).N.\(parent)"
        return description
    }
}

/// Two keys of one section that depend on each other, by their names.
enum KeyRelation: Sendable {
    /// At most one of the two is set.
    case exclusive(String, String)
    /// Both are set, or none.
    case together(String, String)
}

/// One row of the table of keys: the key's description and the access to its value.
///
/// `Root` is ``Settings``, or the type of a list's items. Everything that the program knows about a key follows from its
/// row: reading the file and the environment, defaults, printing, reloading and the JSON schema.
struct ConfigurationKey<Root> {
    /// The key, its sentence and its type.
    var description: KeyDescription
    /// Reads the value into the root; false if the value is wrong, which is reported.
    var read: (ConfigurationNode, _ path: String, inout KeyReader, inout Root) -> Bool = { _, _, _, _ in true }
    /// Switches a section on and off; nil for a section without a switch.
    var setSwitch: ((Bool, inout Root) -> Void)?
    /// The value as it could be written in the file.
    let text: (Root) -> String
    /// Whether two roots have the same value.
    let isEqual: (Root, Root) -> Bool
    /// Copies the value from the first root to the second.
    let copy: (Root, inout Root) -> Void
    /// The texts of an item's key: of all items with `N`, or of the one with that number.
    var itemTexts: (Root, _ number: String, _ path: String) -> [String]? = { _, _, _ in nil }
    /// The kind of a list with its items; nil for other keys.
    var kindWithItems: (() -> KeyDescription.Kind)?
    /// Sets the default, if it depends on other keys.
    var setDefault: ((inout Root) -> Void)?
    /// The value as JSON; nil for a key without a default.
    var constant: ((Root) -> SchemaNode)?
    /// Whether the constant is the default, at least usually.
    var hasUsualDefault = true

    /// The key in dotted form.
    var path: String { description.path }

    /// The description with the default, which is the value of a root that nothing was read into, and with the keys of items.
    func described(in root: Root) -> KeyDescription {
        var description = description
        if let kindWithItems { description.kind = kindWithItems() }
        if hasUsualDefault, description.requirement == nil { description.defaultValue = constant?(root) }
        return description
    }
}

extension ConfigurationKey {
    /// A key with a default.
    init<Value: Equatable>(
        _ path: String, _ property: @autoclosure @escaping () -> WritableKeyPath<Root, Value>, _ type: ValueType<Value>,
        _ effect: ReloadEffect, _ sentence: String
    ) {
        self.init(path, at: property, type, effect, sentence, text: type.text) { $0 }
        constant = { type.json($0[keyPath: property()]) }
    }

    /// A key without a default.
    init<Value: Equatable>(
        _ path: String, _ property: @autoclosure @escaping () -> WritableKeyPath<Root, Value?>,
        _ type: ValueType<Value>, _ effect: ReloadEffect, _ sentence: String
    ) {
        self.init(path, at: property, type, effect, sentence, text: { $0.map(type.text) ?? "" }, stored: { $0 })
    }

    /// The property is asked for at each use: a start reads a few keys, and a key path takes 10,000 to 60,000 instructions when it
    /// is made.
    private init<Value, Stored: Equatable>(
        _ path: String, at property: @escaping () -> WritableKeyPath<Root, Stored>, _ type: ValueType<Value>,
        _ effect: ReloadEffect, _ sentence: String, text: @escaping (Stored) -> String,
        stored: @escaping (Value) -> Stored
    ) {
        description = KeyDescription(path: path, sentence: sentence, effect: effect, kind: .value)
        description.schema = type.schema
        description.isSecret = type.isSecret
        read = { node, path, reader, root in
            guard let value = type.read(node, path, &reader) else { return false }
            root[keyPath: property()] = stored(value)
            return true
        }
        self.text = { text($0[keyPath: property()]) }
        isEqual = { left, right in
            let property = property()
            let (left, right) = (left[keyPath: property], right[keyPath: property])
            // `==` of `String` ignores how characters are composed.
            return left == right && ExactText(text(left)) == ExactText(text(right))
        }
        copy = {
            let property = property()
            $1[keyPath: property] = $0[keyPath: property]
        }
    }

    /// A section. With a switch, `true` and `false` can stand in its place.
    static func section(
        _ path: String, _ sentence: String, switch property: WritableKeyPath<Root, Bool>? = nil,
        _ effect: ReloadEffect = .none, relations: [KeyRelation] = []
    ) -> ConfigurationKey {
        let kind = KeyDescription.Kind.section(hasSwitch: property != nil, relations)
        let description = KeyDescription(path: path, sentence: sentence, effect: effect, kind: kind)
        guard let property else {
            return ConfigurationKey(
                description: description, text: { _ in "" }, isEqual: { _, _ in true }, copy: { _, _ in })
        }
        return ConfigurationKey(
            description: description, setSwitch: { $1[keyPath: property] = $0 },
            text: { "\($0[keyPath: property])" }, isEqual: { $0[keyPath: property] == $1[keyPath: property] },
            copy: { $1[keyPath: property] = $0[keyPath: property] })
    }

    /// A list of items with keys of their own. `check` reports items that cannot stand together, or not with the keys that the
    /// table has before the list, and returns the usable ones.
    static func list<Item: Equatable>(
        _ path: String, _ property: WritableKeyPath<Root, [Item]>,
        of keys: @autoclosure @escaping () -> [ConfigurationKey<Item>], limit: Int? = nil, _ effect: ReloadEffect,
        _ sentence: String, empty: Item,
        check: @escaping ([ReadItem<Item>], Root, inout ConfigurationFindings) -> [Item]
    ) -> ConfigurationKey {
        var key = ConfigurationKey(
            description: KeyDescription(
                path: path, sentence: sentence, effect: effect, kind: .list(items: [], limit: limit)),
            read: { node, path, reader, root in
                let items = reader.items(node, at: path, limit: limit, keys(), empty: empty)
                root[keyPath: property] = check(items, root, &reader.findings)
                return true
            },
            text: { _ in "" },
            isEqual: { $0[keyPath: property] == $1[keyPath: property] },
            copy: { $1[keyPath: property] = $0[keyPath: property] })
        key.kindWithItems = { .list(items: keys().map { $0.described(in: empty) }, limit: limit) }
        key.itemTexts = { root, number, path in
            guard let key = keys().first(where: { $0.path == path }) else { return nil }
            let items = root[keyPath: property]
            if number == "N" { return items.map(key.text) }
            guard let index = Int(number), items.indices.contains(index) else { return nil }
            return [key.text(items[index])]
        }
        return key
    }

    /// The same key with a default that depends on other keys. The schema has its constant default only if that is the
    /// usual one; otherwise the sentence of the key names the default.
    consuming func defaulting(
        hasUsualDefault: Bool = false, _ setDefault: @escaping (inout Root) -> Void
    ) -> ConfigurationKey {
        self.setDefault = setDefault
        self.hasUsualDefault = hasUsualDefault
        return self
    }

    /// The same key, which must be set. The requirement completes "missing; allowed: ".
    consuming func required(_ requirement: String) -> ConfigurationKey {
        description.requirement = requirement
        return self
    }
}
