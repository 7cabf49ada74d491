internal import CDBus
public import EventLoop

/// Reads the arguments of a message in order.
///
/// libdbus validates messages against their signature, so the reader checks types only.
@LoopActor
public struct DBusReader {
    private let message: DBusMessage
    private var iterator = DBusMessageIter()
    private var isAtEnd: Bool

    /// Stands before the first argument.
    public init(_ message: DBusMessage) {
        self.message = message
        isAtEnd = dbus_message_iter_init(message.pointer, &iterator) == 0
    }

    private init(_ message: DBusMessage, _ iterator: DBusMessageIter) {
        self.message = message
        self.iterator = iterator
        isAtEnd = dbus_message_iter_get_arg_type(&self.iterator) == type(CDBUS_TYPE_INVALID)
    }

    /// Reads the current value and advances.
    ///
    /// - Returns: nil after the last value, and for an unknown type.
    public mutating func next() -> DBusValue? {
        guard !isAtEnd, let value = value() else { return nil }
        skip()
        return value
    }

    /// Skips the current value.
    public mutating func skip() {
        isAtEnd = isAtEnd || dbus_message_iter_next(&iterator) == 0
    }

    /// Whether the current value is the given string. Does not create a `String`.
    public mutating func isString(_ text: StaticString) -> Bool {
        guard current == type(CDBUS_TYPE_STRING) else { return false }
        var pointer: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &pointer)
        return DBusMessage.equals(pointer, text)
    }

    /// Returns a reader of the current container: an array, structure, dictionary entry or variant.
    ///
    /// - Returns: nil if the value is not a container.
    public mutating func inside() -> DBusReader? {
        switch current {
        case type(CDBUS_TYPE_ARRAY), type(CDBUS_TYPE_STRUCT), type(CDBUS_TYPE_DICT_ENTRY), type(CDBUS_TYPE_VARIANT):
            var members = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &members)
            return DBusReader(message, members)
        default:
            return nil
        }
    }

    /// The bytes of the byte array here.
    public mutating func bytes() -> [UInt8]? {
        guard
            current == type(CDBUS_TYPE_ARRAY),
            dbus_message_iter_get_element_type(&iterator) == type(CDBUS_TYPE_BYTE)
        else { return nil }
        var elements = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &elements)
        var start: UnsafePointer<UInt8>?
        var count: CInt = 0
        // The block belongs to the message; it is copied here.
        dbus_message_iter_get_fixed_array(&elements, &start, &count)
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    private var current: CInt {
        mutating get { isAtEnd ? type(CDBUS_TYPE_INVALID) : dbus_message_iter_get_arg_type(&iterator) }
    }

    private mutating func value() -> DBusValue? {
        switch current {
        case type(CDBUS_TYPE_BYTE): .byte(basic(0))
        case type(CDBUS_TYPE_BOOLEAN): .boolean(basic(dbus_bool_t(0)) != 0)
        case type(CDBUS_TYPE_INT16): .int16(basic(0))
        case type(CDBUS_TYPE_UINT16): .uint16(basic(0))
        case type(CDBUS_TYPE_INT32): .int32(basic(0))
        case type(CDBUS_TYPE_UINT32): .uint32(basic(0))
        case type(CDBUS_TYPE_INT64): .int64(basic(0))
        case type(CDBUS_TYPE_UINT64): .uint64(basic(0))
        case type(CDBUS_TYPE_DOUBLE): .double(basic(0))
        case type(CDBUS_TYPE_STRING): .string(string())
        case type(CDBUS_TYPE_OBJECT_PATH): .objectPath(string())
        case type(CDBUS_TYPE_SIGNATURE): .signature(string())
        // libdbus duplicates the descriptor; the new owner closes it.
        case type(CDBUS_TYPE_UNIX_FD): .descriptor(DBusDescriptor(owning: basic(-1)))
        case type(CDBUS_TYPE_VARIANT): variant()
        case type(CDBUS_TYPE_STRUCT): .structure(members())
        case type(CDBUS_TYPE_ARRAY): array()
        default: nil
        }
    }

    private mutating func basic<Value: BitwiseCopyable>(_ initial: Value) -> Value {
        var value = initial
        dbus_message_iter_get_basic(&iterator, &value)
        return value
    }

    private mutating func string() -> String {
        DBusMessage.text(basic(nil as UnsafePointer<CChar>?))
    }

    private mutating func variant() -> DBusValue? {
        guard var inside = inside(), let value = inside.next() else { return nil }
        return .variant(value)
    }

    private mutating func members() -> [DBusValue] {
        guard var inside = inside() else { return [] }
        var values: [DBusValue] = []
        while let value = inside.next() { values.append(value) }
        return values
    }

    private mutating func array() -> DBusValue? {
        switch dbus_message_iter_get_element_type(&iterator) {
        case type(CDBUS_TYPE_BYTE): bytes().map(DBusValue.bytes)
        case type(CDBUS_TYPE_DICT_ENTRY): dictionary()
        default: list()
        }
    }

    private mutating func list() -> DBusValue {
        let elements = members()
        return .array(elements, element: elements.first?.signature ?? String(elementSignature.dropFirst()))
    }

    private mutating func dictionary() -> DBusValue? {
        guard var inside = inside() else { return nil }
        var entries: [(key: DBusValue, value: DBusValue)] = []
        while var entry = inside.inside(), let key = entry.next(), let value = entry.next() {
            entries.append((key, value))
            inside.skip()
        }
        // Asking libdbus allocates each time.
        if let (key, value) = entries.first {
            return .dictionary(entries, key: key.signature, value: value.signature)
        }
        // `a{kv…}`: the key is one letter, and the rest but the brace is the value.
        let signature = elementSignature.dropFirst(2).dropLast()
        return .dictionary(entries, key: String(signature.prefix(1)), value: String(signature.dropFirst()))
    }

    /// The signature of the container here.
    private var elementSignature: String {
        mutating get {
            guard let text = dbus_message_iter_get_signature(&iterator) else { return "" }
            defer { dbus_free(text) }  // ours: libdbus makes a copy
            return String(cString: text)
        }
    }
}

/// A type code as libdbus' functions give it: the shim's enumeration is unsigned, their result is not.
private func type(_ code: CDBusType) -> CInt { CInt(code.rawValue) }
