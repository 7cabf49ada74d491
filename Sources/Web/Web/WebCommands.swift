import CommandLine
import Configuration
import Glibc
import PasswordHash
import Terminal
import Text

/// `open`: prints a one-time link to the running page.
struct OpenCommand: CommandAction, Hashable {
    /// The page's configuration; nil: the default file.
    var web: String?
    /// The runtime folder; nil: that of the environment.
    var runtime: String?
    /// The name of the device that the link is for; nil: a browser.
    var device: String?
    /// Whether to print the link as a QR code, too.
    var isQR = false

    func run(in context: CommandContext) -> ExitCode {
        let isRoot = geteuid() == 0
        guard let folder = OneTimeKeys.folder(option: runtime, environment: context.environment, isRoot: isRoot) else {
            return fail(.wrongUsage, "XDG_RUNTIME_DIR is not set; name the folder of the running page: --runtime DIR")
        }
        let keys = OneTimeKeys(folder: folder)
        guard keys.address == nil else { return print(keys) }
        // Only a page that is not running needs the file.
        switch WebSettings.load(path: web, isPasswordHash: PasswordHash.isValid) {
        case .failure(let failure):
            failure.lines.forEach { OutputChannel.standardError.write($0) }
            return .wrongUsage
        case .success(let settings):
            guard settings.users.isEmpty, !settings.isIngress else {
                return fail(.noConnection, "a page with users, or with ingress, has no one-time links")
            }
            // systemd may be waiting for the first connection.
            _ = PageWaking.wake(address: settings.address, port: settings.port)
            return print(keys)
        }
    }

    private func print(_ keys: OneTimeKeys) -> ExitCode {
        guard let address = keys.address else {
            return fail(
                .noConnection, "no page is running with the folder \(keys.folder), or this user may not read it")
        }
        let key = LinkKey.make(device: device)
        guard keys.store(key) else { return fail(.failed, "cannot write to \(keys.folder)") }
        let known = isQR ? publicAddress : nil
        let link = "\(known ?? address)#key=\(LinkKey.encoded(key))"
        OutputChannel.standardOutput.write(link)
        guard isQR else { return .done }
        if known == nil {
            OutputChannel.standardError.write(
                "jacquard2mqtt-web: no other device reaches \(address); set trusted_origins to the address of the proxy"
            )
        }
        return printQRCode(link)
    }

    /// The address of the page for a phone, which reaches no loopback address: that of the proxy in front of it.
    private var publicAddress: String? {
        guard case .success(let settings) = WebSettings.load(path: web, isPasswordHash: PasswordHash.isValid) else {
            return nil
        }
        return settings.trustedOrigins.first.map { "\($0)/" }
    }

    /// Prints a QR code. The link is the input of `qrencode`: its words are visible to all users of the host.
    private func printQRCode(_ link: String) -> ExitCode {
        // A shell that finds no qrencode does not read.
        signal(SIGPIPE, SIG_IGN)
        guard let program = popen("qrencode -t UTF8 2> /dev/null", "we") else {
            return fail(.failed, "cannot run qrencode")
        }
        fputs(link, program)
        guard pclose(program) == 0 else {
            return fail(.failed, "qrencode is needed for QR codes: sudo apt install qrencode")
        }
        return .done
    }

    private func fail(_ code: ExitCode, _ text: String) -> ExitCode {
        OutputChannel.standardError.write("jacquard2mqtt-web: \(text)")
        return code
    }
}

/// `check-config`: checks the page's configuration and its certificate without serving it.
struct CheckPageCommand: CommandAction, Hashable {
    /// The page's configuration; nil: the default file.
    var web: String?

    func run(in _: CommandContext) -> ExitCode {
        let settings = WebSettings.load(
            path: web, listens: true, readsCertificate: true, isPasswordHash: PasswordHash.isValid)
        switch settings {
        case .failure(let failure):
            failure.lines.forEach { OutputChannel.standardError.write($0) }
            return .failed
        case .success(let settings):
            let file = DisplayText.escaped(web ?? WebSettings.defaultPath)
            do throws(StartError) {
                _ = try PageCertificate.read(settings)
            } catch {
                OutputChannel.standardError.write("\(file): \(DisplayText.escaped(error.description))")
                return .failed
            }
            OutputChannel.standardOutput.write("\(file): ok")
            return .done
        }
    }
}

/// `password`: reads a password and prints its hash.
struct PasswordCommand: CommandAction, Hashable {
    func run(in _: CommandContext) -> ExitCode {
        guard let password = readPassword(), !password.isEmpty else {
            OutputChannel.standardError.write("jacquard2mqtt-web: the password is empty")
            return .wrongUsage
        }
        // The standard library replaces bytes that are no UTF-8, which a browser would not.
        guard password.utf8.count <= PasswordHash.longestPassword,
            !password.unicodeScalars.contains(where: { ["\0", "\u{FFFD}"].contains($0) })
        else {
            OutputChannel.standardError.write(
                "jacquard2mqtt-web: the password cannot be used; allowed: 1 to \(PasswordHash.longestPassword) bytes of UTF-8 "
                    + "without a zero")
            return .wrongUsage
        }
        guard let hash = PasswordHash.make(password) else {
            OutputChannel.standardError.write("jacquard2mqtt-web: libcrypt cannot make a hash of this password")
            return .failed
        }
        OutputChannel.standardOutput.write("password: '\(hash)'")
        return .done
    }

    /// Reads a line. A terminal does not show it.
    private func readPassword() -> String? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return readLine() }
        var hidden = settings
        hidden.c_lflag &= ~tcflag_t(ECHO)
        OutputChannel.standardError.write("Enter the password. It is not shown.")
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) }
        return readLine()
    }
}
