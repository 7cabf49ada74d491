import Configuration
import Glibc
import PasswordHash

/// Keys of one-time links. `jacquard2mqtt-web open` writes one to a file in the server's runtime folder; the login removes it.
struct OneTimeKeys: Hashable, Sendable {
    /// How long a key is valid.
    static let lifetime = 600
    private static let keyName = "/open-key"
    private static let addressName = "/address"

    /// The runtime folder.
    let folder: String

    /// The folder from the option or the environment: `RUNTIME_DIRECTORY` of a service, `/run/jacquard2mqtt-web` for root, and a
    /// folder in `XDG_RUNTIME_DIR` for other users. nil: none of them is set.
    static func folder(option: String?, environment: [String: String], isRoot: Bool) -> String? {
        if let option { return option }
        if let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first { return String(folder) }
        if isRoot { return "/run/jacquard2mqtt-web" }
        return environment["XDG_RUNTIME_DIR"].flatMap { $0.isEmpty ? nil : $0 + "/jacquard2mqtt-web" }
    }

    /// Creates the folder and stores the page's address for `open`.
    ///
    /// - Returns: whether the address could be written.
    func prepare(address: String) -> Bool {
        mkdir(folder, 0o700)
        unlink(folder + Self.keyName)
        return write(address, to: Self.addressName)
    }

    /// Removes the address, so that `open` does not print a link to a page that has ended.
    func remove() {
        unlink(folder + Self.addressName)
        unlink(folder + Self.keyName)
    }

    /// The address of a running page; nil without one.
    var address: String? {
        guard let contents = try? FileContents(path: folder + Self.addressName, limit: 512, followsLinks: false) else {
            return nil
        }
        return String(decoding: contents.bytes, as: UTF8.self)
    }

    /// Stores a key. An earlier one becomes invalid.
    ///
    /// - Returns: whether it could be written.
    func store(_ key: String) -> Bool {
        write(key, to: Self.keyName)
    }

    /// Checks a key and removes it. Blocks: call it on the helper thread.
    ///
    /// - Returns: whether it was valid.
    func use(_ key: String) -> Bool {
        let path = folder + Self.keyName
        var status = stat()
        guard lstat(path, &status) == 0,
            let contents = try? FileContents(path: path, limit: 128, followsLinks: false)
        else { return false }
        guard time(nil) - status.st_mtim.tv_sec <= Self.lifetime else {
            unlink(path)
            return false
        }
        let expected = String(decoding: contents.bytes, as: UTF8.self)
        // Of two logins with the same key, one removes the file.
        return expected.utf8.count >= 64 && PasswordHash.isEqual(key, expected) && unlink(path) == 0
    }

    /// Writes a file that belongs to the owner of the folder: a service's user when root runs `open`.
    private func write(_ text: String, to name: String) -> Bool {
        let path = folder + name
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        if stat(folder, &status) == 0, status.st_uid != geteuid() {
            _ = fchown(descriptor, status.st_uid, status.st_gid)
        }
        var text = text
        let isWritten = text.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count }
        return isWritten && rename(temporary, path) == 0
    }
}
