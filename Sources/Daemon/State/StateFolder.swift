import Configuration
import Glibc
import JSON

/// The folder of `--state`, in which one file remembers the tags. Called on the helper thread: everything here may block.
struct StateFolder: Sendable {
    /// The greatest size that is read, in bytes; a hundred tags take twenty thousand.
    private static let sizeLimit = 1 << 20
    private static let fileName = "tags.json"
    private static let runsFileName = "runs.json"

    /// Where it is.
    let path: String

    /// The folder of `--state`, else the service manager's, else that of an installed bridge.
    init(option: String?, environment: [String: String]) {
        path = StatePath.path(option: option, environment: environment)
    }

    private var file: String { path + "/" + Self.fileName }

    /// What was found in the folder.
    enum Contents: Hashable, Sendable {
        /// The tags; none where there is no file yet.
        case tags([StoredTag])
        /// The file is damaged and was set aside under this name.
        case damaged(setAside: String, reason: String)
        /// The file cannot be read, or the damaged one cannot be set aside.
        case unreadable(reason: String)
    }

    /// Reads the tags.
    func load() -> Contents {
        do throws(FileError) {
            return parsed(try FileContents(path: file, limit: Self.sizeLimit, followsLinks: false).bytes)
        } catch  where error.isMissing {
            return .tags([])
        } catch {
            return .unreadable(reason: error.reason)
        }
    }

    private func parsed(_ bytes: [UInt8]) -> Contents {
        guard let document = JSONValue(parsing: bytes), let version = StoredTags.version(of: document) else {
            return setAside()
        }
        // First of all: the tags of another version may look like nothing that is known here.
        guard version == StoredTags.version else {
            return .unreadable(reason: "version \(version) of another release")
        }
        return StoredTags(document).map { .tags($0.tags) } ?? setAside()
    }

    /// A damaged file is evidence: it is kept beside the new one and never overwritten.
    private func setAside() -> Contents {
        let kept = (0...).lazy.map { file + ".damaged" + ($0 == 0 ? "" : "-\($0)") }.first { access($0, F_OK) != 0 }
        guard let kept, rename(file, kept) == 0 else {
            return .unreadable(reason: "it is damaged and cannot be set aside: \(FileError(errno).reason)")
        }
        return .damaged(setAside: kept, reason: "it is no list of tags")
    }

    /// Creates the folder if it is missing.
    func create() throws(FileError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw FileError(errno) }
    }

    /// Writes the tags: as a whole or not at all, and on the disk when it returns.
    ///
    /// - Throws: ``FileError``; the file is then as it was.
    func save(_ tags: [StoredTag]) throws(FileError) {
        try write(StoredTags(tags: tags.sorted { $0.id < $1.id }), to: file)
    }

    /// Reads under which names the bridge has run; none when there is no file, or none that this release can read.
    func loadRuns() -> StoredRuns {
        guard
            let contents = try? FileContents(
                path: path + "/" + Self.runsFileName, limit: Self.sizeLimit, followsLinks: false)
        else {
            return StoredRuns()
        }
        return JSONValue(parsing: contents.bytes).flatMap { StoredRuns($0) } ?? StoredRuns()
    }

    /// Writes under which names the bridge has run, as ``save(_:)-([StoredTag])`` writes the tags.
    ///
    /// - Throws: ``FileError``; the file is then as it was.
    func save(_ runs: StoredRuns) throws(FileError) {
        try write(runs, to: path + "/" + Self.runsFileName)
    }

    private func write(_ document: some Encodable, to file: String) throws(FileError) {
        try create()
        try AtomicFile.write(
            JSONText.indentedBytes(of: document) + [UInt8(ascii: "\n")], to: file, mode: 0o600, isDurable: true)
    }
}
