import EventLoop

/// What an object looks like in XML (D-Bus specification, "Introspection Data Format").
@LoopActor
enum Introspection {
    static func xml(of object: (any BusObject)?, at path: String, among paths: [String]) -> String {
        let interfaces = (object?.interfaces ?? []).map(xml)
        let children = names(below: path, among: paths).map { "<node name=\"\($0)\"/>" }
        return "<node>" + (interfaces + children).joined() + "</node>"
    }

    private static func xml(_ interface: BusInterface) -> String {
        let methods = interface.methods.map { method in
            let takes = arguments(method.takes).map { "<arg type=\"\($0)\" direction=\"in\"/>" }
            let gives = arguments(method.gives).map { "<arg type=\"\($0)\" direction=\"out\"/>" }
            return "<method name=\"\(method.name)\">" + (takes + gives).joined() + "</method>"
        }
        let properties = interface.properties.map { property in
            let access = property.set == nil ? "read" : "readwrite"
            return "<property name=\"\(property.name)\" type=\"\(property.signature)\" access=\"\(access)\"/>"
        }
        return "<interface name=\"\(interface.name)\">" + (methods + properties).joined() + "</interface>"
    }

    /// Cuts a signature into complete types.
    private static func arguments(_ signature: String) -> [String] {
        var types: [String] = []
        var type = ""
        var depth = 0
        for character in signature {
            type.append(character)
            if "({".contains(character) { depth += 1 }
            if ")}".contains(character) { depth -= 1 }
            guard depth == 0, character != "a" else { continue }
            types.append(type)
            type = ""
        }
        return types
    }

    private static func names(below path: String, among paths: [String]) -> [String] {
        let prefix = path == "/" ? "/" : path + "/"
        let names = paths.filter { $0.hasPrefix(prefix) && $0 != prefix }
            .compactMap { $0.dropFirst(prefix.count).split(separator: "/").first.map(String.init) }
        return Set(names).sorted()
    }
}
