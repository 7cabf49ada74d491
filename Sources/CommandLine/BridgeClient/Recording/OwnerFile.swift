import BrokerAccess
import CommandLine
import Glibc

/// A new file that only its owner may read.
struct OwnerFile: Sendable {
    /// The file's path.
    let path: String
    private let descriptor: Int32

    /// Creates the file, so that an error is found before the work begins.
    ///
    /// A file, a link or a FIFO that exists is neither replaced nor followed.
    ///
    /// - Throws: `failed`, with the path and the system's reason.
    init(creating path: String) throws(ClientFailure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor < 0 else { return }
        throw Self.failure(path, errno)
    }

    /// Writes the contents and closes the file.
    ///
    /// - Throws: `failed`. The file is then deleted.
    func finish(_ text: String) throws(ClientFailure) {
        let bytes = Array(text.utf8)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else {
                let reason = errno
                discard()
                throw Self.failure(path, reason)
            }
            rest = rest.dropFirst(max(0, count))
        }
        // Network file systems may report a full disk only on close.
        guard close(descriptor) == 0 else {
            let reason = errno
            unlink(path)
            throw Self.failure(path, reason)
        }
    }

    /// Closes and deletes the file.
    func discard() {
        close(descriptor)
        unlink(path)
    }

    private static func failure(_ path: String, _ reason: Int32) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: "file_error",
            text: "\(path): \(strerror(reason).map { String(cString: $0) } ?? "cannot be written")",
            hint: reason == EEXIST ? "Choose another name, or delete the file first" : nil)
    }
}
