internal import CDBus
import EventLoop

/// Appends arguments to a message that is being made.
@LoopActor
struct DBusWriter {
    private let message: DBusMessage
    private var iterator = DBusMessageIter()

    init(_ message: DBusMessage) {
        self.message = message
        dbus_message_iter_init_append(message.pointer, &iterator)
    }

    private init(_ message: DBusMessage, _ iterator: DBusMessageIter) {
        self.message = message
        self.iterator = iterator
    }

    mutating func append(_ value: DBusValue) {
        switch value {
        case .byte(let value): basic(CDBUS_TYPE_BYTE, value)
        case .boolean(let value): basic(CDBUS_TYPE_BOOLEAN, dbus_bool_t(value ? 1 : 0))
        case .int16(let value): basic(CDBUS_TYPE_INT16, value)
        case .uint16(let value): basic(CDBUS_TYPE_UINT16, value)
        case .int32(let value): basic(CDBUS_TYPE_INT32, value)
        case .uint32(let value): basic(CDBUS_TYPE_UINT32, value)
        case .int64(let value): basic(CDBUS_TYPE_INT64, value)
        case .uint64(let value): basic(CDBUS_TYPE_UINT64, value)
        case .double(let value): basic(CDBUS_TYPE_DOUBLE, value)
        case .string(let text): Self.append(CDBUS_TYPE_STRING, text, to: &iterator)
        case .objectPath(let text): Self.append(CDBUS_TYPE_OBJECT_PATH, text, to: &iterator)
        case .signature(let text): Self.append(CDBUS_TYPE_SIGNATURE, text, to: &iterator)
        // libdbus duplicates the descriptor; the caller keeps its own.
        case .descriptor(let descriptor): basic(CDBUS_TYPE_UNIX_FD, descriptor.borrowed)
        default: container(value)
        }
    }

    private mutating func container(_ value: DBusValue) {
        switch value {
        case .variant(let inner): open(CDBUS_TYPE_VARIANT, inner.signature) { $0.append(inner) }
        case .bytes(let bytes): open(CDBUS_TYPE_ARRAY, "y") { Self.append(bytes, to: &$0.iterator) }
        case .array(let values, let element):
            open(CDBUS_TYPE_ARRAY, element) { writer in
                for value in values { writer.append(value) }
            }
        case .structure(let members):
            open(CDBUS_TYPE_STRUCT, nil) { writer in
                for member in members { writer.append(member) }
            }
        case .dictionary(let entries, let key, let value):
            open(CDBUS_TYPE_ARRAY, "{\(key)\(value)}") { writer in
                for entry in entries {
                    writer.open(CDBUS_TYPE_DICT_ENTRY, nil) { writer in
                        writer.append(entry.key)
                        writer.append(entry.value)
                    }
                }
            }
        default: preconditionFailure("not a container: \(value.signature)")
        }
    }

    private mutating func open(_ type: CDBusType, _ signature: String?, _ body: (inout DBusWriter) -> Void) {
        var members = DBusMessageIter()
        dbus_message_iter_open_container(&iterator, CInt(type.rawValue), signature, &members)
        var writer = DBusWriter(message, members)
        body(&writer)
        dbus_message_iter_close_container(&iterator, &writer.iterator)
    }

    private mutating func basic<Value: BitwiseCopyable>(_ type: CDBusType, _ value: Value) {
        var value = value
        dbus_message_iter_append_basic(&iterator, CInt(type.rawValue), &value)
    }

    // These belong to no actor, as a closure that does is checked by the runtime when the standard library takes it.

    private nonisolated static func append(_ bytes: [UInt8], to iterator: inout DBusMessageIter) {
        bytes.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            _ = dbus_message_iter_append_fixed_array(
                &iterator, CInt(CDBUS_TYPE_BYTE.rawValue), &start, CInt(bytes.count))
        }
    }

    private nonisolated static func append(_ type: CDBusType, _ text: String, to iterator: inout DBusMessageIter) {
        text.withCString { text in
            var text: UnsafePointer<CChar>? = text
            _ = dbus_message_iter_append_basic(&iterator, CInt(type.rawValue), &text)
        }
    }
}
