import Configuration
import JSON

/// The page's state: the sessions of devices, and the rows of the charts. Everything here may block.
struct StateFiles: Hashable, Sendable {
    /// The largest files that are read, in bytes. A session takes about 200, and a tag about 5,000.
    private static let (deviceLimit, historyLimit) = (256 << 10, 16 << 20)
    private static let (devices, history) = ("/devices.json", "/history.json")
    private static let version: Int64 = 1

    /// The service manager's folder, else that of one-time links, which is emptied when the machine starts.
    let folder: String

    /// nil without a folder.
    init?(environment: [String: String], runtime: String?) {
        let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        guard let folder = given ?? runtime else { return nil }
        self.folder = folder
    }

    /// The sessions of devices; none of what no release has written.
    func readDevices() -> [StoredDevice] {
        guard let document = read(Self.devices, Self.deviceLimit), document["version"]?.integer == Self.version else {
            return []
        }
        return document["devices"]?.elements?.compactMap(StoredDevice.init) ?? []
    }

    /// The rows of the charts.
    func readHistory() -> History { History(stored: read(Self.history, Self.historyLimit)) }

    private func read(_ name: String, _ limit: Int) -> JSONValue? {
        (try? FileContents(path: folder + name, limit: limit, followsLinks: false)).flatMap {
            JSONValue(parsing: $0.bytes)
        }
    }

    /// Replaces the sessions of devices.
    ///
    /// - Returns: whether they could be written.
    func write(_ devices: [StoredDevice]) -> Bool {
        write(["version": .integer(Self.version), "devices": .array(devices.map(\.document))], to: Self.devices)
    }

    /// Replaces the rows of the charts.
    ///
    /// - Returns: whether they could be written.
    func write(_ history: History) -> Bool { write(history.stored, to: Self.history) }

    private func write(_ document: JSONValue, to name: String) -> Bool {
        (try? AtomicFile.write(JSONText.bytes(of: document), to: folder + name, mode: 0o600)) != nil
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
