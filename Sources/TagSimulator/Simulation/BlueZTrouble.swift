/// The faults that the fake `org.bluez` can simulate.
public enum BlueZTrouble: Hashable, Sendable {
    /// A member, such as `Connect`, is never answered and does nothing.
    case ignore(member: String)
    /// A member is refused with name and text of an error.
    case refuse(member: String, error: String, text: String)
    /// Services are resolved without the tag's own: no such object is on the bus.
    case hideServices
    /// Services are never resolved.
    case resolveNothing
    /// Every discovery ends, as after a reset of the controller.
    case endDiscovery
    /// Every device is removed from the bus without a word about its link.
    case removeDevices
    /// Every descriptor of AcquireNotify is closed without a word.
    case closeDescriptors
    /// What lasts of the above is over.
    case clear
}

extension BlueZTrouble {
    /// Reads what stands behind `bluez`.
    ///
    /// - Throws: ``CommandError`` that says what would have been right.
    static func parse(_ words: inout CommandWords) throws(CommandError) -> BlueZTrouble {
        let word = words.next() ?? ""
        switch word {
        case "ignore": return .ignore(member: try member(&words))
        case "refuse": return try refusal(&words)
        default: break
        }
        guard let plain = plain[word] else {
            let allowed = plain.keys.sorted() + ["ignore MEMBER", "refuse MEMBER ERROR [TEXT]"]
            throw CommandError("'\(word)' is no trouble; troubles are \(allowed.joined(separator: ", "))")
        }
        return plain
    }

    private static let plain: [String: BlueZTrouble] = [
        "hide-services": .hideServices, "resolve-nothing": .resolveNothing,
        "end-discovery": .endDiscovery,
        "remove-devices": .removeDevices, "close-descriptors": .closeDescriptors, "clear": .clear,
    ]

    private static func member(_ words: inout CommandWords) throws(CommandError) -> String {
        guard let member = words.next() else { throw CommandError("a MEMBER is missing, such as Connect") }
        return member
    }

    /// The name of an error without dots is one of BlueZ.
    private static func refusal(_ words: inout CommandWords) throws(CommandError) -> BlueZTrouble {
        let member = try member(&words)
        guard let error = words.next() else { throw CommandError("an ERROR is missing, such as Failed") }
        var text: [String] = []
        while let word = words.next() { text.append(word) }
        let name = error.contains(".") ? error : "org.bluez.Error." + error
        return .refuse(member: member, error: name, text: text.joined(separator: " "))
    }
}

extension FakeBlueZ {
    /// Makes trouble, or ends it.
    func make(_ trouble: BlueZTrouble) {
        switch trouble {
        case .ignore(let member): faults.unanswered.insert(member)
        case .refuse(let member, let error, let text): faults.refused[member] = (error, text)
        case .hideServices: faults.hidesServices = true
        case .resolveNothing: faults.resolvesNothing = true
        case .endDiscovery: endDiscovery()
        case .removeDevices: removeDevices()
        case .closeDescriptors: closeDescriptors()
        case .clear: faults.clear()
        }
    }
}
