import DBus
import EventLoop

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
