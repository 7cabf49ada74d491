import Glibc

/// Whether the bridge can remember its tags.
enum StateFolderCheck {
    /// What the kernel tells about the folder.
    struct Facts: Hashable, Sendable {
        /// Where it should be.
        let path: String
        /// Whether there is something of that name.
        var exists = false
        /// Whether that is a folder.
        var isFolder = false
        /// Whether this user may make files in it.
        var isWritable = false
        /// Who owns it.
        var owner = ""
        /// Whether this user does.
        var isOwn = false
    }

    private static let standardPath = "/var/lib/jacquard2mqtt"

    /// The folder that the bridge would use.
    static func path(option: String?, environment: [String: String]) -> String {
        option ?? environment["STATE_DIRECTORY"].flatMap { $0.isEmpty ? nil : $0 } ?? standardPath
    }

    /// Asks the kernel.
    static func probe(_ path: String) -> Facts {
        var facts = Facts(path: path)
        var status = stat()
        guard stat(path, &status) == 0 else { return facts }
        facts.exists = true
        facts.isFolder = status.st_mode & S_IFMT == S_IFDIR
        facts.isWritable = access(path, W_OK | X_OK) == 0
        facts.isOwn = status.st_uid == geteuid()
        // libc's own memory, valid until the next call.
        facts.owner = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
        return facts
    }

    /// Says whether it can be written, and by whom.
    static func finding(_ facts: Facts) -> Finding {
        let path = facts.path
        guard facts.exists else {
            return Finding(
                .stateFolder, .warning, "\(path) does not exist; the service creates it when it starts",
                remedies: ["sudo install -d -o jacquard2mqtt -g jacquard2mqtt -m 750 \(path)"])
        }
        guard facts.isFolder else {
            return Finding(
                .stateFolder, .failed, "\(path) is not a folder", remedies: ["choose another one: --state DIR"])
        }
        if facts.isWritable { return Finding(.stateFolder, .ok, "\(path) can be written") }
        guard !facts.isOwn else {
            return Finding(.stateFolder, .failed, "\(path) cannot be written", remedies: ["chmod u+rwx \(path)"])
        }
        return Finding(
            .stateFolder, .warning, "\(path) belongs to \(facts.owner), and this user may not write it",
            remedies: ["sudo -u \(facts.owner) jacquard2mqtt doctor"])
    }
}
