import Configuration
import Glibc

/// Measurements of this process from the kernel.
enum ProcessMeasurement {
    /// Resident memory in kilobytes (proc(5), `statm`, second number); 0 if it cannot be read.
    static var residentKilobytes: Int {
        let statm = try? FileContents(path: "/proc/self/statm", limit: 4_096).bytes
        let words = String(decoding: statm ?? [], as: UTF8.self).split(separator: " ")
        guard let pages = words.dropFirst().first.flatMap({ Int($0) }) else { return 0 }
        return pages * sysconf(Int32(_SC_PAGESIZE)) / 1024
    }
}
