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
