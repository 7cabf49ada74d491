import Bridge
import Configuration
import Glibc
import JSON

/// The folder of `--state`, with a file for each kind of state. Called on the helper thread: everything here may block.
struct StateFolder: Sendable {
    /// The largest file that is read or written, in bytes. A tag takes at most 1 kB, and 4 kB for its battery.
    static let sizeLimit = 16 << 20
    private static let fileName = "tags.json"
    private static let runsFileName = "runs.json"
    private static let batteryFileName = "batteries.json"

    /// Its path.
    let path: String

    /// The folder of `--state`, else the service manager's, else that of an installed bridge.
    init(option: String?, environment: [String: String]) {
        path = StatePath.path(option: option, environment: environment)
    }

    private var file: String { path + "/" + Self.fileName }

    /// The contents of the folder.
    enum Contents: Hashable, Sendable {
        /// The tags; none where there is no file yet.
        case tags([StoredTag])
        /// Some records are damaged: the tags of the others. The file was copied.
        case partial([StoredTag], DamagedState)
        /// The file is damaged and was set aside under this name.
        case damaged(setAside: String, reason: String)
        /// The file cannot be read, or the damaged one cannot be set aside.
        case unreadable(reason: String, isOfOtherRelease: Bool = false)
    }

    /// Reads the tags.
    func load() -> Contents {
        do throws(FileError) {
            return parsed(try bytes(of: file))
        } catch  where error.isMissing {
            return .tags([])
        } catch {
            return .unreadable(reason: error.reason)
        }
    }

    /// The serials of the tags, read without changing anything; none if the file cannot be read.
    var knownSerials: [String] {
        guard let bytes = try? bytes(of: file), let document = JSONValue(parsing: bytes),
            StoredTags.version(of: document) == StoredTags.version
        else { return [] }
        return StoredTags.read(document)?.tags.map(\.serial) ?? []
    }

    private func bytes(of file: String) throws(FileError) -> [UInt8] {
        try FileContents(path: file, limit: Self.sizeLimit, followsLinks: false).bytes
    }

    private func parsed(_ bytes: [UInt8]) -> Contents {
        guard let document = JSONValue(parsing: bytes), let version = StoredTags.version(of: document) else {
            return setAside(file)
        }
        // First of all: the tags of another version may look like nothing that is known here.
        guard version == StoredTags.version else {
            return .unreadable(reason: Self.reason(ofVersion: version), isOfOtherRelease: true)
        }
        guard let (tags, damaged) = StoredTags.read(document) else { return setAside(file) }
        guard !damaged.isEmpty else { return .tags(tags) }
        return switch copyAside(bytes, of: file) {
        case .success(let kept): .partial(tags, DamagedState(keptAs: kept, records: damaged))
        case .failure(let error): .unreadable(reason: "it is damaged and cannot be copied: \(error.reason)")
        }
    }

    private static func reason(ofVersion version: Int) -> String { "version \(version) of another release" }

    /// A damaged file is evidence: it is kept beside the new one and never overwritten.
    private func setAside(_ file: String) -> Contents {
        switch moveAside(file) {
        case .success(let kept): .damaged(setAside: kept, reason: "it is no list of tags")
        case .failure(let error):
            .unreadable(reason: "it is damaged and cannot be set aside: \(error.reason)")
        }
    }

    /// Renames a damaged file to a name that is not in use, and returns it.
    func moveAside(_ file: String) -> Result<String, FileError> {
        guard let kept = Self.unusedName(for: file), rename(file, kept) == 0 else { return .failure(FileError(errno)) }
        return .success(kept)
    }

    /// Copies a damaged file of which a part is used to a name that is not in use, and returns it.
    private func copyAside(_ bytes: [UInt8], of file: String) -> Result<String, FileError> {
        guard let kept = Self.unusedName(for: file) else { return .failure(FileError(EEXIST)) }
        do throws(FileError) {
            try AtomicFile.write(bytes, to: kept, mode: 0o600)
            return .success(kept)
        } catch {
            return .failure(error)
        }
    }

    private static func unusedName(for file: String) -> String? {
        (0...).lazy.map { file + ".damaged" + ($0 == 0 ? "" : "-\($0)") }.first { access($0, F_OK) != 0 }
    }

    /// Creates the folder if it is missing.
    func create() throws(FileError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw FileError(errno) }
    }

    /// Writes the tags: as a whole or not at all, and on the disk when it returns.
    ///
    /// - Throws: ``FileError``; the file is then as it was.
    func save(_ tags: [StoredTag]) throws(FileError) {
        try write(StoredTags(tags: tags.sorted { $0.key < $1.key }), to: file)
    }

    /// Reads under which names the bridge has run; none when there is no file, or none that this release can read.
    ///
    /// - Returns: the names, and why the file must not be overwritten: it is of another release.
    func loadRuns() -> (runs: StoredRuns, obstacle: String?) {
        let document = (try? bytes(of: path + "/" + Self.runsFileName)).flatMap { JSONValue(parsing: $0) }
        let otherVersion = document.flatMap(StoredTags.version).flatMap { $0 == StoredRuns.version ? nil : $0 }
        return (document.flatMap { StoredRuns($0) } ?? StoredRuns(), otherVersion.map(Self.reason))
    }

    /// Writes under which names the bridge has run, as ``save(_:)-([StoredTag])`` writes the tags.
    ///
    /// - Throws: ``FileError``; the file is then as it was.
    func save(_ runs: StoredRuns) throws(FileError) {
        try write(runs, to: path + "/" + Self.runsFileName)
    }

    /// The stored batteries.
    enum BatteryContents: Hashable, Sendable {
        /// The histories; none where there is no file yet.
        case batteries([StoredBattery])
        /// Some records are damaged: the others, and the number of damaged ones. The file was copied to this name.
        case partial([StoredBattery], copiedTo: String, damaged: Int)
        /// The file is damaged and was set aside under this name.
        case damaged(setAside: String)
        /// The file cannot be read, or the damaged one cannot be set aside.
        case unreadable(reason: String)
    }

    /// Reads the histories of the batteries.
    func loadBatteries() -> BatteryContents {
        let file = path + "/" + Self.batteryFileName
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try self.bytes(of: file)
        } catch {
            return error.isMissing ? .batteries([]) : .unreadable(reason: error.reason)
        }
        let document = JSONValue(parsing: bytes)
        if let version = document?["version"]?.integer, version != StoredBatteries.version {
            return .unreadable(reason: Self.reason(ofVersion: Int(version)))
        }
        if let (batteries, damaged) = document.flatMap(StoredBatteries.read) {
            guard damaged > 0 else { return .batteries(batteries) }
            return switch copyAside(bytes, of: file) {
            case .success(let kept): .partial(batteries, copiedTo: kept, damaged: damaged)
            case .failure(let error): .unreadable(reason: "it is damaged and cannot be copied: \(error.reason)")
            }
        }
        return switch moveAside(file) {
        case .success(let kept): .damaged(setAside: kept)
        case .failure(let error): .unreadable(reason: "it is damaged and cannot be set aside: \(error.reason)")
        }
    }

    /// Writes the histories of the batteries, as ``save(_:)-([StoredTag])`` writes the tags, on one line.
    ///
    /// - Throws: ``FileError``; the file is then as it was.
    func saveBatteries(_ batteries: [StoredBattery]) throws(FileError) {
        let document = StoredBatteries(batteries: batteries.sorted { $0.id < $1.id })
        try write(JSONText.bytes(of: document), to: path + "/" + Self.batteryFileName)
    }

    private func write(_ document: some JSONDocument, to file: String) throws(FileError) {
        try write(JSONText.indentedBytes(of: document), to: file)
    }

    /// Refuses a file that ``load()`` could not read: the old one is of more use.
    private func write(_ bytes: [UInt8], to file: String) throws(FileError) {
        guard bytes.count < Self.sizeLimit else { throw FileError(EFBIG) }
        try create()
        try AtomicFile.write(bytes + [UInt8(ascii: "\n")], to: file, mode: 0o600)
    }
}
