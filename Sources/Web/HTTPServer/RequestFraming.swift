internal import CMicroHTTPD
internal import Glibc
import Text

/// Checks that all programs on the way of a request find the same end and the same host in it.
///
/// libmicrohttpd 0.9 accepts requests that a proxy in front may understand differently: the rest of a body would then be read as
/// another user's request ("request smuggling"). Source: RFC 9112, sections 2.2, 3.2, 5.1 and 6.3.
enum RequestFraming {
    /// A header field as it was received.
    typealias Field = (name: [UInt8], value: [UInt8])

    /// The end of a request.
    enum Body: Hashable {
        /// The header says how long the body is, or there is none.
        case known
        /// The body is sent in chunks.
        case chunks
    }

    /// Whether the target of a request is a path of this server, optionally with a query. Escaped control characters are not
    /// accepted: the library ends the path at an escaped zero byte.
    static func isTarget(_ target: [UInt8]) -> Bool {
        guard target.first == UInt8(ascii: "/") else { return false }
        var index = 0
        while index < target.count {
            let byte = target[index]
            guard (0x21...0x7E).contains(byte), byte != UInt8(ascii: "#") else { return false }
            index += 1
            guard byte == UInt8(ascii: "%") else { continue }
            guard index + 1 < target.count, let high = ASCII.hexadecimalDigit(target[index]),
                let low = ASCII.hexadecimalDigit(target[index + 1]), !ASCII.isControl(high << 4 | low)
            else { return false }
            index += 2
        }
        return true
    }

    /// Checks the version and the header fields.
    ///
    /// - Returns: how the end of the body is found; nil if the request is ambiguous.
    static func body(version: String, _ fields: [Field]) -> Body? {
        guard fields.allSatisfy({ isName($0.name) && $0.value.allSatisfy(isText) }) else { return nil }
        func values(_ name: String) -> [String] {
            fields.filter { String(decoding: $0.name, as: UTF8.self).lowercased() == name }.map {
                String(decoding: trimmed($0.value), as: UTF8.self)
            }
        }
        let hosts = values("host")
        let lengths = values("content-length")
        let encodings = values("transfer-encoding")
        guard hosts.count == 1, isHost(hosts[0]) else { return nil }
        guard let encoding = encodings.first else {
            let areDigits = lengths.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isDigit) }
            return lengths.count <= 1 && areDigits ? .known : nil
        }
        let isChunked = encodings.count == 1 && encoding.lowercased() == "chunked"
        return isChunked && lengths.isEmpty && version != "HTTP/1.0" ? .chunks : nil
    }

    /// A value without the spaces and tabs at its end.
    static func trimmed(_ value: [UInt8]) -> ArraySlice<UInt8> {
        value.prefix((value.lastIndex { $0 != 0x20 && $0 != 0x09 } ?? -1) + 1)
    }

    private static func isName(_ name: [UInt8]) -> Bool {
        !name.isEmpty && name.allSatisfy { ASCII.isAlphanumeric($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    private static func isText(_ byte: UInt8) -> Bool { !ASCII.isControl(byte) || byte == 0x09 }

    /// Whether a text is a name or an address, optionally with a port.
    private static func isHost(_ text: String) -> Bool {
        (1...261).contains(text.utf8.count)
            && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-._:[]".utf8.contains($0) }
    }
}

/// The parts of a request's header in the library's buffer, in the order of their arrival.
///
/// The library overwrites the characters after each part with zero bytes. A part that does not begin right after the end of the
/// one before reveals a zero byte, a line that ends without a carriage return, or one that continues the line before.
struct ReceivedHeader {
    private let begin: UInt
    private let size: Int
    private var next: UInt
    private(set) var isContiguous: Bool
    private(set) var fields: [RequestFraming.Field] = []

    /// libmicrohttpd 1.0 rejects such lines itself, and has another buffer.
    private static let isChecked = String(cString: MHD_get_version()).hasPrefix("0.")

    /// Begins with the request line; `size` is that of the whole header, `targetSize` that of the target with its escapes.
    init(
        _ method: UnsafePointer<CChar>, _ target: UnsafePointer<CChar>, _ targetSize: Int,
        _ version: UnsafePointer<CChar>, size: Int
    ) {
        begin = UInt(bitPattern: method)
        self.size = size
        isContiguous =
            UInt(bitPattern: target) == begin + UInt(strlen(method)) + 1
            && UInt(bitPattern: version) == UInt(bitPattern: target) + UInt(targetSize) + 1
        next = Self.end(version)
    }

    /// Adds a field.
    mutating func add(_ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>) {
        isContiguous = isContiguous && UInt(bitPattern: name) == next
        next = Self.end(value)
        fields.append((Self.bytes(name), Self.bytes(value)))
    }

    /// Whether every line was ended by a carriage return and a line feed, and the header by an empty line.
    var isComplete: Bool { !Self.isChecked || isContiguous && next + 2 == begin + UInt(size) }

    /// The address behind a text and the two characters that end its line.
    private static func end(_ text: UnsafePointer<CChar>) -> UInt { UInt(bitPattern: text) + UInt(strlen(text)) + 2 }

    private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }
}
