internal import Glibc
internal import Synchronization

/// A value of the D-Bus type system (D-Bus specification, "Type System").
///
/// Only the cases that hold other values, and texts with them, are on the heap: a property of BlueZ is one allocation.
public enum DBusValue: Sendable {
    /// `y`
    case byte(UInt8)
    /// `b`
    case boolean(Bool)
    /// `n`
    case int16(Int16)
    /// `q`
    case uint16(UInt16)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `x`
    case int64(Int64)
    /// `t`
    case uint64(UInt64)
    /// `d`
    case double(Double)
    /// `s`
    case string(String)
    /// `o`
    case objectPath(String)
    /// `g`
    case signature(String)
    /// `h`
    case descriptor(DBusDescriptor)
    /// `v`
    indirect case variant(DBusValue)
    /// `ay`, the one array that is worth a case of its own.
    case bytes([UInt8])
    /// `a…` of anything else; the signature is that of one element.
    indirect case array([DBusValue], element: String)
    /// `a{…}`; the signatures are those of key and value.
    indirect case dictionary([(key: DBusValue, value: DBusValue)], key: String, value: String)
    /// `(…)`
    case structure([DBusValue])

    /// The type signature of the value.
    public var signature: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .descriptor: "h"
        case .variant: "v"
        case .bytes: "ay"
        case .array(_, let element): "a" + element
        case .dictionary(_, let key, let value): "a{\(key)\(value)}"
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        }
    }

    /// `a{sv}`: the shape of options and properties.
    public static func properties(_ values: [(String, DBusValue)]) -> DBusValue {
        .dictionary(values.map { (.string($0), .variant($1)) }, key: "s", value: "v")
    }

    /// `as`.
    public static func strings(_ values: [String]) -> DBusValue {
        .array(values.map(DBusValue.string), element: "s")
    }
}

extension DBusValue {
    /// The content of a variant, however deep; any other value itself.
    public var unwrapped: DBusValue {
        if case .variant(let value) = self { value.unwrapped } else { self }
    }

    /// The text of a string, object path or signature.
    public var text: String? {
        switch unwrapped {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }

    /// A Boolean.
    public var flag: Bool? {
        if case .boolean(let flag) = unwrapped { flag } else { nil }
    }

    /// Any integer, where it fits.
    public var integer: Int? {
        switch unwrapped {
        case .byte(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int64(let value): Int(exactly: value)
        case .uint64(let value): Int(exactly: value)
        default: nil
        }
    }

    /// A byte array.
    public var byteArray: [UInt8]? {
        if case .bytes(let bytes) = unwrapped { bytes } else { nil }
    }

    /// The texts of an array of strings or object paths; elements of another type are left out.
    public var textArray: [String]? {
        if case .array(let values, _) = unwrapped { values.compactMap(\.text) } else { nil }
    }

    /// A dictionary with string keys; entries with other keys are left out.
    public var textKeyed: [String: DBusValue]? {
        guard case .dictionary(let entries, _, _) = unwrapped else { return nil }
        var result: [String: DBusValue] = Dictionary(minimumCapacity: entries.count)
        for (key, value) in entries {
            if let key = key.text { result[key] = value }
        }
        return result
    }
}

/// A file descriptor that is received or sent in a message. Closed when the object is released, unless it was taken.
public final class DBusDescriptor: Sendable {
    private let number: Atomic<CInt>

    /// Takes ownership of an open descriptor.
    public init(owning descriptor: CInt) {
        number = Atomic(descriptor)
    }

    /// Transfers the descriptor to the caller, which must close it.
    ///
    /// - Returns: nil if it was taken already.
    public func take() -> CInt? {
        let descriptor = number.exchange(-1, ordering: .relaxed)
        return descriptor < 0 ? nil : descriptor
    }

    /// The number of the descriptor, valid during a call.
    var borrowed: CInt { number.load(ordering: .relaxed) }

    deinit {
        if let descriptor = take() { close(descriptor) }
    }
}
