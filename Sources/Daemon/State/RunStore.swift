import Bridge
import EventLoop
import JSON
import Logging

/// Which names this bridge has run under, as it stands in `runs.json`.
struct StoredRuns: Encodable, Hashable, Sendable {
    /// One name in topics, with the `boot` of the latest starts under it.
    struct Instance: Encodable, Hashable, Sendable {
        var name: String
        var boots: [String]
    }

    /// The version of the format.
    static let version = 1
    /// The most names, and the most starts of each, that are kept.
    static let most = 8

    /// A file of a later version is not read.
    var version = Self.version
    /// The present name first; then former ones whose topics may still be at the broker.
    var instances: [Instance] = []

    /// Takes a start under a name.
    mutating func started(_ name: String, boot: String) {
        var instance = instances.first { $0.name == name } ?? Instance(name: name, boots: [])
        instance.boots = ([boot] + instance.boots).prefix(Self.most).map(\.self)
        instances = ([instance] + instances.filter { $0.name != name }).prefix(Self.most).map(\.self)
    }
}

extension StoredRuns {
    /// Reads a file of this version; nil for anything else.
    init?(_ document: JSONValue) {
        guard document["version"]?.integer == Int64(Self.version), let elements = document["instances"]?.elements else {
            return nil
        }
        self.init(instances: elements.prefix(Self.most).compactMap { Instance($0) })
    }
}

extension StoredRuns.Instance {
    fileprivate init?(_ document: JSONValue) {
        guard let name = document["name"]?.string, let boots = document["boots"]?.elements else { return nil }
        self.init(name: name, boots: boots.compactMap(\.string))
    }
}

/// Remembers the names under which this bridge has run, so that the topics of a former one can be cleared.
@LoopActor
final class RunStore {
    private let folder: StateFolder
    private let log: Logger
    private var runs = StoredRuns()

    init(_ folder: StateFolder, log: Logger) {
        self.folder = folder
        self.log = log.with(.endpoint, folder.path)
    }

    /// Notes a start.
    ///
    /// - Returns: the former names; none if the file cannot be read.
    func begin(_ instance: String, boot: String) async -> [FormerInstance] {
        let folder = folder
        runs = await HelperThread.shared.run(.state) { folder.loadRuns() }
        runs.started(instance, boot: boot)
        await save()
        return runs.instances.filter { $0.name != instance }.map { FormerInstance(name: $0.name, boots: $0.boots) }
    }

    /// The topics of a former name are cleared.
    func forget(_ instance: String) {
        runs.instances.removeAll { $0.name == instance }
        EventLoop.shared.begin { await self.save() }
    }

    private func save() async {
        let (folder, runs) = (folder, runs)
        let failure = await HelperThread.shared.run(.state) { () -> FileError? in
            do throws(FileError) {
                try folder.save(runs)
                return nil
            } catch {
                return error
            }
        }
        if let failure { log.warning("cannot remember the name of this bridge", [(.error, failure.reason)]) }
    }
}
