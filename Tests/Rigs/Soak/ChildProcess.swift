import EventLoop
import Glibc

/// A program that runs beside the soak: what it prints goes to a file or comes line by line.
@LoopActor
final class ChildProcess {
    /// Process id.
    let identifier: pid_t
    private var input: CInt = -1
    private var output: CInt = -1
    private var source: DescriptorSource?
    private var buffer: [UInt8] = []
    private var status: Int32?
    private var onLine: ((String) -> Void)?

    /// Starts a program whose output is added to a file.
    init(_ path: String, _ arguments: [String], environment: [String], log: String) throws {
        let file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SoakFailure("cannot write \(log)") }
        defer { close(file) }
        identifier = try Self.spawn(path, arguments, environment, input: nil, output: file)
    }

    /// Starts a program that is typed at and whose lines are read.
    init(_ path: String, _ arguments: [String], onLine: @escaping (String) -> Void) throws {
        var (toProgram, fromProgram): ([CInt], [CInt]) = ([0, 0], [0, 0])
        // Socket pairs, because they can be kept from other programs in one step.
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &toProgram) == 0, socketpair(AF_UNIX, kind, 0, &fromProgram) == 0 else {
            throw SoakFailure("no descriptors for \(path)")
        }
        identifier = try Self.spawn(path, arguments, [], input: toProgram[0], output: fromProgram[1])
        close(toProgram[0])
        close(fromProgram[1])
        (input, output) = (toProgram[1], fromProgram[0])
        self.onLine = onLine
        source = try DescriptorSource(output, for: .readable) { [unowned self] _ in read() }
    }

    /// Whether it still runs.
    var isRunning: Bool { exitStatus == nil }

    /// Exit status once it has ended; 128 and the signal's number when a signal ended it.
    var exitStatus: Int32? {
        var raw: Int32 = 0
        if status == nil, waitpid(identifier, &raw, WNOHANG) == identifier {
            status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + raw & 0x7F
        }
        return status
    }

    /// Types a line on its standard input.
    func type(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// Sends it a signal, unless it has ended.
    func signal(_ number: Int32) {
        if isRunning { kill(identifier, number) }
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(output, &bytes, bytes.count)
        guard count > 0 else {
            source?.cancel()
            return
        }
        buffer += bytes.prefix(count)
        var lines = buffer.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        buffer = Array(lines.removeLast())
        for line in lines { onLine?(String(decoding: line, as: UTF8.self)) }
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String], input: CInt?, output: CInt
    ) throws -> pid_t {
        let search = getenv("PATH").map { "PATH=" + String(cString: $0) } ?? "PATH=/usr/sbin:/usr/bin:/bin"
        var descriptors = [STDOUT_FILENO: output, STDERR_FILENO: output]
        descriptors[STDIN_FILENO] = input
        return try Subprocess.spawn(path, arguments, environment: [search] + environment, descriptors: descriptors)
    }

    isolated deinit {
        signal(SIGKILL)
        source?.cancel()
        for descriptor in [input, output] where descriptor >= 0 { close(descriptor) }
    }
}

/// Why the soak cannot go on: a sentence.
struct SoakFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
