import Configuration
import JSON
import Text

/// The file with the sessions of devices: `devices.json` in the folder of the page's state. Everything here may block.
struct DeviceFile: Hashable, Sendable {
    /// The largest file that is read, in bytes. A session takes about 200.
    private static let sizeLimit = 256 << 10
    private static let name = "/devices.json"
    private static let version: Int64 = 1

    /// The service manager's folder, else that of one-time links, which is emptied when the machine starts.
    let folder: String

    init(environment: [String: String], runtime: String) {
        folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init) ?? runtime
    }

    /// What the file has; nothing of what no release has written.
    func read() -> [StoredDevice] {
        guard let contents = try? FileContents(path: folder + Self.name, limit: Self.sizeLimit, followsLinks: false),
            let document = JSONValue(parsing: contents.bytes), document["version"]?.integer == Self.version
        else { return [] }
        return document["devices"]?.elements?.compactMap(StoredDevice.init) ?? []
    }

    /// Replaces the contents.
    ///
    /// - Returns: whether it could be written.
    func write(_ devices: [StoredDevice]) -> Bool {
        let document: JSONValue = ["version": .integer(Self.version), "devices": .array(devices.map(\.document))]
        return PrivateFile.write(
            String(decoding: JSONText.bytes(of: document), as: UTF8.self), to: Self.name, in: folder)
    }
}

extension StoredDevice {
    fileprivate init?(_ document: JSONValue) {
        guard let name = document["name"]?.string, DeviceName.isAllowed(name), let hash = document["hash"]?.string,
            hash.utf8.count == 64, let began = document["began_ms"]?.integer, let used = document["used_ms"]?.integer
        else { return nil }
        self.init(name: name, hash: hash, began: began, used: used)
    }

    fileprivate var document: JSONValue {
        ["name": .string(name), "hash": .string(hash), "began_ms": .integer(began), "used_ms": .integer(used)]
    }
}

/// The name of a device, which its owner chooses.
enum DeviceName {
    /// What it may be.
    static let allowed = "1 to 32 bytes of UTF-8 without control characters, not only spaces"

    /// Whether a text is one.
    static func isAllowed(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && text.contains { !$0.isWhitespace }
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}

/// The key of a one-time link: random digits, and for a device its name behind a colon.
enum LinkKey {
    /// A new key.
    static func make(device: String?) -> String { Secrets.random() + (device.map { ":\($0)" } ?? "") }

    /// The device of a key that is right; nil if it has none.
    static func device(of key: String) -> String? {
        let parts = key.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[1]) : nil
    }

    /// A key as the part of a link: everything but letters and digits is written with percent signs.
    static func encoded(_ key: String) -> String {
        key.utf8.map { byte in
            ASCII.isAlphanumeric(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
