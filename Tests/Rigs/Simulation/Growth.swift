import EventLoop

/// Counts what the objects of a bridge hold: elements of arrays, sets and dictionaries, by the names of the properties that
/// lead there.
struct ContentCount {
    private(set) var sizes: [String: Int] = [:]
    private var visited: Set<ObjectIdentifier> = []
    /// Types that are left out: those of the simulation, and what all bridges share.
    private static let foreign = ["simulate.", "EventLoop.", "Logging.", "Swift.", "Foundation"]

    /// Counts everything that a value leads to.
    init(of value: Any) {
        visit(value, "", 0)
    }

    private mutating func visit(_ value: Any, _ path: String, _ depth: Int) {
        guard depth < 40, !(value is [UInt8]), !(value is String) else { return }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .class:
            let name = String(reflecting: mirror.subjectType)
            guard !Self.foreign.contains(where: name.hasPrefix),
                visited.insert(ObjectIdentifier(value as AnyObject)).inserted
            else { return }
        case .collection, .set, .dictionary:
            sizes[path, default: 0] += mirror.children.count
            for child in mirror.children { visit(child.value, path + "[]", depth + 1) }
            return
        default: break
        }
        for child in mirror.children {
            let label = child.label ?? "?"
            // The parts of an optional and of a tuple have no names of their own.
            let isNamed = label != "some" && !label.hasPrefix(".")
            visit(child.value, isNamed ? "\(path).\(label)" : path, depth + 1)
        }
        if let parent = mirror.superclassMirror {
            for child in parent.children { visit(child.value, "\(path).\(child.label ?? "?")", depth + 1) }
        }
    }
}
