import JacquardProtocol
import Text

extension Settings {
    /// The descriptions of all keys and sections, without those of the items of lists.
    static var keyDescriptions: [KeyDescription] { keys.map { $0.described(in: initial) } }

    /// The descriptions of all keys and sections in the order of the documentation. The keys of an item stand below
    /// `N`, its number in the list: `tags.N.serial`.
    static var allKeyDescriptions: [KeyDescription] {
        keyDescriptions.flatMap { key in
            guard case .list(let items, _) = key.kind else { return [key] }
            return [key] + items.map { $0.inItems(of: key.path) }
        }
    }

    /// The keys that have a value, in dotted form. Kept, because each variable of the environment is compared with them.
    static let keyPaths: [String] =
        allKeyDescriptions
        .filter { if case .value = $0.kind { true } else { false } }.map(\.path)

    /// The sections that `true` and `false` can replace.
    static let switchPaths: [String] =
        allKeyDescriptions
        .filter { if case .section(hasSwitch: true, _) = $0.kind { true } else { false } }.map(\.path)

    /// The keys that ``values(of:)`` accepts.
    public static var printableKeys: [String] {
        let printable = Set(keyPaths + switchPaths)
        return allKeyDescriptions.filter { !$0.isSecret && printable.contains($0.path) }.map(\.path)
    }

    /// The words of the configuration itself, such as `always`, `lost` and `double_tap`. They are nobody's names.
    public static var vocabulary: Set<String> {
        return Set(allKeyDescriptions.flatMap { $0.schema.enumeratedWords } + Gesture.words)
    }

    /// The first key or section with a name, in the order of the documentation.
    ///
    /// - Parameters:
    ///   - name: such as `host`.
    ///   - includesLists: whether keys of the items of lists count.
    /// - Returns: such as `mqtt.host`, with 0 for the number of a list's item; nil if there is no such key.
    static func path(toKey name: String, inLists includesLists: Bool) -> String? {
        for path in keyPaths {
            let parts = path.split(separator: ".")
            guard includesLists || !parts.dropLast().contains("N"), let index = parts.firstIndex(where: { $0 == name })
            else { continue }
            return parts[...index].map { $0 == "N" ? "0" : $0 }.joined(separator: ".")
        }
        return nil
    }

    /// The values of a key, as they could be written in the file.
    ///
    /// - Parameter path: the key in dotted form. Below a list such as `tags`, `N` stands for every item, a number
    ///   for one.
    /// - Returns: one text, empty if there is no value; for `tags.N.serial` one for each tag; nil for an unknown key, a
    ///   section, a number past the end of the list, and for a secret.
    public func values(of path: String) -> [String]? {
        let parts = path.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        for key in Self.keys {
            switch key.description.kind {
            case .value where key.path == path:
                guard !key.description.isSecret else { return nil }
                return [isSwitchedOff(key.description.parent) ? "" : key.text(self)]
            case .section(hasSwitch: true, _) where key.path == path: return [key.text(self)]
            case .list where key.path == parts[0] && parts.count == 3: return key.itemTexts(self, parts[1], parts[2])
            case .value, .section, .list: continue
            }
        }
        return nil
    }

    private func isSwitchedOff(_ section: String) -> Bool {
        guard let key = Self.keys.first(where: { $0.path == section }), key.setSwitch != nil else { return false }
        return key.text(self) == "false"
    }
}

/// A key whose value differs between two configurations.
public struct ChangedKey: Hashable, Sendable {
    /// The key in dotted form; of a list, the list.
    public let path: String
    /// How the new value takes effect.
    public let effect: ReloadEffect
}

extension Settings {
    /// The keys whose values differ from those of another configuration, in the order of the documentation.
    public func changedKeys(from other: Settings) -> [ChangedKey] {
        Self.keys.filter { !$0.isEqual(self, other) }.map {
            ChangedKey(path: $0.path, effect: $0.description.effect)
        }
    }

    /// This configuration with the values of a running one for keys that only a start can change. Defaults that
    /// depend on such a key follow it.
    public func keepingStartValues(of running: Settings) -> Settings {
        var kept = self
        let keys = Self.keys
        for key in keys where key.description.effect == .nextStart { key.copy(running, &kept) }
        for key in keys where key.description.effect != .nextStart {
            guard let setDefault = key.setDefault else { continue }
            var withDefault = self
            setDefault(&withDefault)
            if key.isEqual(self, withDefault) { setDefault(&kept) }
        }
        return kept
    }
}
