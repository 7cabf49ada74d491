import GATTRecording
import Glibc
import TagFirmware

/// Reads small files.
enum SmallFile {
    /// Reads a file, at most so many bytes.
    ///
    /// - Throws: ``CommandError`` that says why it cannot be read.
    static func bytes(of path: String, atMost limit: Int) throws(CommandError) -> [UInt8] {
        guard let file = fopen(path, "r") else {
            throw CommandError("\(path): \(strerror(errno).map { String(cString: $0) } ?? "cannot be read")")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        guard bytes.count <= limit else { throw CommandError("\(path): longer than \(limit) bytes") }
        return bytes
    }
}

extension Replay {
    /// Reads the recording of a file, or the one in a report.
    ///
    /// - Throws: ``CommandError`` that names the file and the line.
    init(file path: String, speed: Double) throws(CommandError) {
        let bytes = try SmallFile.bytes(of: path, atMost: TrafficRecording.maxTextBytes)
        do throws(RecordingError) {
            self.init(try TrafficRecording(parsing: bytes), speed: speed)
        } catch {
            throw CommandError("\(path): \(error)")
        }
    }
}
