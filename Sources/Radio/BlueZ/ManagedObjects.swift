public import DBus

extension DBusValue {
    /// The addresses of the devices that offer a service, in what BlueZ answers to `GetManagedObjects`.
    ///
    /// - Parameter service: the UUID in lower case.
    /// - Returns: the addresses, each once and in order; none for another value.
    public func addresses(ofDevicesOffering service: String) -> [String] {
        let found = (textKeyed ?? [:]).values.compactMap { interfaces -> String? in
            guard let values = interfaces.textKeyed?[BlueZNames.device]?.textKeyed,
                values["UUIDs"]?.textArray?.contains(where: { $0.lowercased() == service }) == true
            else { return nil }
            return values["Address"]?.text
        }
        return Set(found).sorted()
    }
}
