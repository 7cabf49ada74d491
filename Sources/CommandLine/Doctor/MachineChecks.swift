import Bridge
import Configuration
import EventLoop
import Glibc
import JSON
import Terminal

/// Checks the configuration.
enum ConfigurationCheck {
    /// Reports its errors or notices.
    static func finding(_ loaded: Result<LoadedConfiguration, ConfigurationErrors>) -> Finding {
        switch loaded {
        case .failure(let errors):
            Finding(
                .configuration, .failed, "the bridge would not start with \(errors.file)",
                remedies: errors.lines + ["sudoedit \(errors.file)"])
        case .success(let loaded):
            Finding(
                .configuration, loaded.notices.isEmpty ? .ok : .warning,
                (["\(loaded.file) has no error"] + loaded.notices).joined(separator: "; "))
        }
    }
}

/// Checks that the clock is plausible: certificates and times in topics depend on it.
enum ClockCheck {
    /// The first second of 2026; this program is not older.
    private static let earliest: Int64 = 1_767_225_600

    /// Reports the time.
    static func finding(unixSeconds: Int64) -> Finding {
        let text = TimeText.utc(unixSeconds * 1000)
        guard unixSeconds >= earliest else {
            return Finding(
                .clock, .failed, "the clock is wrong: it shows \(text)",
                remedies: ["sudo timedatectl set-ntp true", "sudo apt install systemd-timesyncd"])
        }
        return Finding(.clock, .ok, text)
    }
}

/// Checks that the bridge can write the folder with the known tags.
enum StateFolderCheck {
    /// The state of the folder.
    struct Facts: Hashable, Sendable {
        /// Its path.
        let path: String
        /// Whether the path exists.
        var exists = false
        /// Whether it is a folder.
        var isFolder = false
        /// Whether this user can create files in it.
        var isWritable = false
        /// The user that owns it.
        var owner = ""
        /// Whether this user owns it.
        var isOwn = false
    }

    /// Returns the state of a folder.
    static func probe(_ path: String) -> Facts {
        var facts = Facts(path: path)
        var status = stat()
        guard stat(path, &status) == 0 else { return facts }
        facts.exists = true
        facts.isFolder = status.st_mode & S_IFMT == S_IFDIR
        facts.isWritable = access(path, W_OK | X_OK) == 0
        facts.isOwn = status.st_uid == geteuid()
        // The memory belongs to libc and is valid until the next call.
        facts.owner = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
        return facts
    }

    /// Reports whether it can be written.
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
