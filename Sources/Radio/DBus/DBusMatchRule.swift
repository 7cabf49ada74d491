import EventLoop

/// Selects signals (D-Bus specification, "Match Rules"). The bus filters by the rules of a connection, and the
/// connection filters again for each of its rules.
public struct DBusMatchRule: Hashable, Sendable {
    /// A well-known or unique name. Only signals of its current owner match.
    public var sender: String
    /// Interface of the signal.
    public var interface: String
    /// Name of the signal.
    public var member: String
    /// The object that sends it; nil for any.
    public var path: String?
    /// Objects at and below this path; nil for any.
    public var pathNamespace: String?
    /// The first argument, a string; nil for any.
    public var argument0: String?

    /// Creates a rule.
    public init(
        sender: String, interface: String, member: String, path: String? = nil, pathNamespace: String? = nil,
        argument0: String? = nil
    ) {
        self.sender = sender
        self.interface = interface
        self.member = member
        self.path = path
        self.pathNamespace = pathNamespace
        self.argument0 = argument0
    }

    /// The rule in the format of `AddMatch`.
    var text: String {
        var parts = ["type='signal'", "sender='\(sender)'", "interface='\(interface)'", "member='\(member)'"]
        if let path { parts.append("path='\(path)'") }
        if let pathNamespace { parts.append("path_namespace='\(pathNamespace)'") }
        if let argument0 { parts.append("arg0='\(argument0)'") }
        return parts.joined(separator: ",")
    }

    /// Whether the path of a signal's object matches.
    func covers(_ path: String) -> Bool {
        if let exact = self.path, exact != path { return false }
        guard let root = pathNamespace, root != "/" else { return true }
        return path == root || (path.hasPrefix(root) && path.utf8.dropFirst(root.utf8.count).first == UInt8(ascii: "/"))
    }
}

/// The subscriptions to signals, and the owner of each watched well-known name.
@LoopActor
final class SignalTable {
    typealias Handler = @LoopActor (DBusMessage) -> Void

    /// An object, as its rule is many texts: every signal looks at all entries, and would copy them.
    private final class Entry {
        let number: Int
        let rule: DBusMatchRule
        let handler: Handler

        init(_ number: Int, _ rule: DBusMatchRule, _ handler: @escaping Handler) {
            self.number = number
            self.rule = rule
            self.handler = handler
        }
    }

    private var entries: [Entry] = []
    private var last = 0
    /// Owners of the well-known names that are watched. A signal is believed only from the owner: anyone on a bus may
    /// send anyone a signal that looks like another's.
    var owners: [String: String] = [:]

    func add(_ rule: DBusMatchRule, _ handler: @escaping Handler) -> Int {
        last += 1
        entries.append(Entry(last, rule, handler))
        return last
    }

    func remove(_ number: Int) {
        entries.removeAll { $0.number == number }
    }

    func deliver(_ message: DBusMessage) {
        for entry in entries
        where message.isNamed(entry.rule.interface, entry.rule.member) && entry.rule.covers(message.path)
            && isFrom(entry.rule.sender, message)
        {
            if let wanted = entry.rule.argument0, message.arguments.first?.text != wanted { continue }
            entry.handler(message)
        }
    }

    private func isFrom(_ name: String, _ message: DBusMessage) -> Bool {
        if message.isFrom(name) { return true }
        guard let owner = owners[name] else { return false }
        return message.isFrom(owner)
    }
}
