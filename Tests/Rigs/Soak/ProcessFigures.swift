import Glibc

/// The kernel's figures for a process.
struct ProcessFigures {
    /// Memory in use, in kilobytes (proc(5), `statm`, second number).
    let residentKilobytes: Int
    /// Open descriptors.
    let descriptors: Int
    /// Time on the processor since its start, in milliseconds (proc(5), `stat`, numbers 14 and 15).
    let processorMilliseconds: Int

    /// nil when the process has gone.
    init?(of process: pid_t) {
        guard let memory = Self.words(of: "/proc/\(process)/statm"), memory.count > 1,
            let pages = Int(memory[1]), let stat = Self.words(of: "/proc/\(process)/stat"), stat.count > 14,
            let user = Int(stat[13]), let system = Int(stat[14])
        else {
            return nil
        }
        residentKilobytes = pages * sysconf(Int32(_SC_PAGESIZE)) / 1024
        processorMilliseconds = (user + system) * 1000 / sysconf(Int32(_SC_CLK_TCK))
        descriptors = Self.count(in: "/proc/\(process)/fd")
    }

    private static func words(of path: String) -> [Substring]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ")
    }

    private static func count(in folder: String) -> Int {
        guard let handle = opendir(folder) else { return 0 }
        defer { closedir(handle) }
        var count = -2  // "." and ".."
        while readdir(handle) != nil { count += 1 }
        return count
    }
}

extension ProcessFigures: CustomStringConvertible {
    var description: String {
        "\(residentKilobytes) kB, \(descriptors) descriptors, \(processorMilliseconds) ms CPU"
    }
}
