internal import CMosquitto
internal import Glibc
import MQTTTypes

/// Properties on their way out. Owns the list and frees it; the library copies what it is lent.
struct PropertyList: ~Copyable {
    private var head: OpaquePointer?

    /// The list for the length of a call; nil when it is empty.
    var pointer: OpaquePointer? { head }

    mutating func add(_ identifier: mqtt5_property, _ value: UInt32) throws(MQTTError) {
        try check(mosquitto_property_add_int32(&head, CInt(identifier.rawValue), value))
    }

    mutating func add(_ identifier: mqtt5_property, _ value: String) throws(MQTTError) {
        try check(mosquitto_property_add_string(&head, CInt(identifier.rawValue), value))
    }

    mutating func add(_ identifier: mqtt5_property, _ value: [UInt8]) throws(MQTTError) {
        guard let count = UInt16(exactly: value.count) else {
            throw MQTTError(.invalidMessage, "correlation data is longer than 65,535 bytes")
        }
        try check(mosquitto_property_add_binary(&head, CInt(identifier.rawValue), value, count))
    }

    mutating func add(_ property: MQTTUserProperty) throws(MQTTError) {
        let identifier = CInt(MQTT_PROP_USER_PROPERTY.rawValue)
        try check(mosquitto_property_add_string_pair(&head, identifier, property.name, property.value))
    }

    private func check(_ status: CInt) throws(MQTTError) {
        guard status == MOSQ_ERR_SUCCESS.rawValue else { throw MQTTError(publishing: status) }
    }

    deinit {
        var head = head
        mosquitto_property_free_all(&head)
    }
}

/// Properties that have come with a packet. The library frees the list when the callback returns.
struct ReceivedProperties {
    let head: OpaquePointer?

    func number(_ identifier: mqtt5_property) -> UInt32? { read(identifier, mosquitto_property_read_int32) }

    func byte(_ identifier: mqtt5_property) -> UInt8? { read(identifier, mosquitto_property_read_byte) }

    func shortNumber(_ identifier: mqtt5_property) -> UInt16? { read(identifier, mosquitto_property_read_int16) }

    /// Returns what one of the library's functions finds.
    private func read<Value: FixedWidthInteger>(
        _ identifier: mqtt5_property,
        _ find: (OpaquePointer?, CInt, UnsafeMutablePointer<Value>?, Bool) -> OpaquePointer?
    ) -> Value? {
        var value = Value.zero
        return find(head, CInt(identifier.rawValue), &value, false) == nil ? nil : value
    }

    func text(_ identifier: mqtt5_property) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        // The copy is ours to free.
        defer { free(value) }
        guard mosquitto_property_read_string(head, CInt(identifier.rawValue), &value, false) != nil else { return nil }
        return value.map { String(cString: $0) }
    }

    func bytes(_ identifier: mqtt5_property) -> [UInt8]? {
        var value: UnsafeMutableRawPointer?
        var count: UInt16 = 0
        // The copy is ours to free.
        defer { free(value) }
        let found = mosquitto_property_read_binary(head, CInt(identifier.rawValue), &value, &count, false)
        return found == nil ? nil : Array(UnsafeRawBufferPointer(start: value, count: Int(count)))
    }
}
