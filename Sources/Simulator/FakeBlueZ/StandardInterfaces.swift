import DBus
import EventLoop

/// The bus's own interfaces, which every object has, and the object manager at the root.
@LoopActor
enum StandardInterfaces {
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let properties = "org.freedesktop.DBus.Properties"
    static let introspectable = "org.freedesktop.DBus.Introspectable"
    static let ofEveryObject = [introspectable, properties]

    /// Answers a call of one of these interfaces.
    ///
    /// - Returns: false when it is for another one, and not answered.
    static func answer(_ call: BusCall, _ object: (any BusObject)?, all objects: [any BusObject]) -> Bool {
        switch (call.interface, call.member) {
        case (objectManager, "GetManagedObjects") where call.path == "/":
            let entries = objects.map { (key: DBusValue.objectPath($0.path), value: description(of: $0)) }
            call.reply(.dictionary(entries, key: "o", value: "a{sa{sv}}"))
        case (introspectable, "Introspect"):
            call.reply(.string(Introspection.xml(of: object, at: call.path, among: objects.map(\.path))))
        case (properties, _):
            guard let object else { return false }
            return PropertiesInterface.answer(call, object)
        default: return false
        }
        return true
    }

    /// `a{sa{sv}}`: all interfaces of an object with all of their properties.
    static func description(of object: any BusObject) -> DBusValue {
        let own = object.interfaces.map { (key: DBusValue.string($0.name), value: values(of: $0)) }
        let standard = ofEveryObject.map { (key: DBusValue.string($0), value: DBusValue.properties([])) }
        return .dictionary(standard + own, key: "s", value: "a{sv}")
    }

    static func values(of interface: BusInterface) -> DBusValue {
        .properties(interface.properties.compactMap { property in property.get().map { (property.name, $0) } })
    }
}

/// `org.freedesktop.DBus.Properties`, with the errors of BlueZ' own library.
@LoopActor
enum PropertiesInterface {
    static func answer(_ call: BusCall, _ object: any BusObject) -> Bool {
        guard let name = call.arguments.first?.text else { return false }
        let own = object.interfaces.first { $0.name == name }
        let isStandard = StandardInterfaces.ofEveryObject.contains(name)
        guard let interface = own ?? (isStandard ? BusInterface(name: name) : nil) else {
            call.refuse(invalid("No such interface '\(name)'"))
            return true
        }
        switch (call.member, call.signature) {
        case ("GetAll", "s"): call.reply(StandardInterfaces.values(of: interface))
        case ("Get", "ss"): get(call, interface)
        case ("Set", "ssv"): set(call, interface)
        default: return false
        }
        return true
    }

    private static func get(_ call: BusCall, _ interface: BusInterface) {
        let name = call.arguments[1].text ?? ""
        guard let value = interface.properties.first(where: { $0.name == name })?.get() else {
            return call.refuse(invalid("No such property '\(name)'"))
        }
        call.reply(.variant(value))
    }

    private static func set(_ call: BusCall, _ interface: BusInterface) {
        let name = call.arguments[1].text ?? ""
        let value = call.arguments[2].unwrapped
        guard let property = interface.properties.first(where: { $0.name == name }) else {
            return call.refuse(error("UnknownProperty", "No such property '\(name)'"))
        }
        guard let set = property.set else {
            return call.refuse(error("PropertyReadOnly", "Property '\(name)' is not writable"))
        }
        guard value.signature == property.signature else {
            return call.refuse(error("InvalidSignature", "Invalid signature for '\(name)'"))
        }
        do {
            try set(value)
            call.reply()
        } catch {
            call.refuse(error)
        }
    }

    private static func invalid(_ text: String) -> BlueZError { error("InvalidArgs", text) }

    private static func error(_ name: String, _ text: String) -> BlueZError {
        BlueZError("org.freedesktop.DBus.Error." + name, text)
    }
}

/// The XML of an object (D-Bus specification, "Introspection Data Format").
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
