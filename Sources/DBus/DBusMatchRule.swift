/// Selects signals (D-Bus specification, "Match Rules"). The bus filters by the rules of a connection, and the
/// connection
/// filters again for each of its rules.
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
