import Bridge
import Configuration
import Glibc

/// The bytes of `tags.json`: tags, or a file that is set aside; what was read is read again after it was written. The same
/// bytes are those of `runs.json` and `batteries.json`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let path = "/dev/shm/jacquard2mqtt-fuzz-\(getpid())"
    let file = path + "/tags.json"
    let runs = path + "/runs.json"
    let batteries = path + "/batteries.json"
    mkdir(path, 0o700)
    defer {
        for name in [file, "\(file).damaged", "\(file).new", runs, batteries, "\(batteries).damaged"] { unlink(name) }
        rmdir(path)
    }
    guard let stream = fopen(file, "w") else { return 0 }
    fwrite(start, 1, count, stream)
    fclose(stream)
    link(file, runs)
    link(file, batteries)
    let folder = StateFolder(option: path, environment: [:])
    _ = folder.loadRuns()
    if case .batteries(let found) = folder.loadBatteries() { _ = found.map(\.history) }
    guard case .tags(let tags) = folder.load() else { return 0 }
    _ = tags.map(\.record)
    do throws(FileError) {
        try folder.save(tags)
    } catch {
        fatalError("cannot write what was read: \(error.reason)")
    }
    guard case .tags(let again) = folder.load() else { fatalError("cannot read what was written") }
    require(again.count == tags.count && Set(again) == Set(tags), "other tags came back")
    return 0
}
