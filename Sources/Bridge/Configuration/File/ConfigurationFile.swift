import Glibc
import Text

/// A configuration and where it came from.
public struct LoadedConfiguration: Hashable, Sendable {
    /// The settings.
    public var configuration: Settings
    /// The file that was looked for, whether or not it is there.
    public let file: String
    /// Remarks on allowed settings, one sentence each.
    public let notices: [String]
    /// Variables that Kubernetes or a container link has set, which look like settings and set no key.
    public var ignoredVariables: [String] = []
}

/// Finds and reads the configuration file: the one place that touches files for the configuration.
public enum ConfigurationFile {
    /// The file of an installed bridge; only this one may be missing.
    public static let defaultPath = "/etc/jacquard2mqtt/config.yaml"
    /// The greatest size in bytes; a hundred tags take ten thousand.
    static let sizeLimit = 1 << 20

    /// Reads the configuration.
    ///
    /// - Parameters:
    ///   - path: the file of `--config`; nil: that of `$JACQUARD2MQTT_CONFIG`, and without it the default one.
    ///   - environment: all variables of the process.
    ///   - defaultPath: the file that may be missing.
    ///   - reflexProblem: returns what is wrong with the command of a reflex, which the bridge knows; nil if nothing is.
    /// - Returns: the configuration, or everything that is wrong with it.
    public static func load(
        path: String?, environment: [String: String], defaultPath: String = defaultPath,
        reflexProblem: @escaping (String) -> String? = { _ in nil }
    ) -> Result<LoadedConfiguration, ConfigurationErrors> {
        let named = path ?? environment[EnvironmentSetting.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        let file = named ?? defaultPath
        do throws(FileError) {
            return read(try FileContents(path: file, limit: sizeLimit), file, environment, reflexProblem)
        } catch  where error.isMissing && named == nil {
            return read(nil, file, environment, reflexProblem)
        } catch {
            var findings = ConfigurationFindings()
            let reason = error.code == EFBIG ? "larger than \(sizeLimit) bytes" : error.reason(for: file)
            findings.add("cannot be read: \(reason)", at: .file)
            return .failure(findings.errors(in: file))
        }
    }

    private static func read(
        _ contents: FileContents?, _ file: String, _ environment: [String: String],
        _ reflexProblem: @escaping (String) -> String?
    ) -> Result<LoadedConfiguration, ConfigurationErrors> {
        let passwordFile = PasswordFile(
            folder: ConfigurationFolder(of: file),
            credentials: environment["CREDENTIALS_DIRECTORY"].flatMap { $0.isEmpty ? nil : $0 })
        let written = WrittenConfiguration(yaml: contents?.bytes ?? [])
        return ConfigurationReader.read(
            written, file: file, environment: environment, hostName: hostName(),
            readPassword: passwordFile.read, checkFile: checkCertificate, reflexProblem: reflexProblem
        ).map { configuration in
            let notices = written.notices + notices(contents, configuration) + configuration.notices
            return LoadedConfiguration(
                configuration: configuration, file: file, notices: notices,
                ignoredVariables: EnvironmentOverlay(environment).ignored)
        }
    }

    /// Reads a certificate or a key as the library of TLS will, which names no file when it cannot.
    static func checkCertificate(_ path: String) throws(Rejection) {
        do throws(FileError) {
            guard !(try FileContents(path: path, limit: sizeLimit)).bytes.isEmpty else {
                throw FileError(ENODATA)
            }
        } catch {
            throw Rejection(error.code == ENODATA ? "is an empty file" : "cannot be read: \(error.reason(for: path))")
        }
    }

    private static func notices(_ contents: FileContents?, _ configuration: Settings) -> [String] {
        guard let contents else { return ["there is no such file: every key has its default"] }
        guard contents.isReadableByOthers, configuration.mqtt.isPasswordInFile else { return [] }
        return ["every user may read the file, and mqtt.password stands in it: chmod o-r, or use mqtt.password_file"]
    }

    private static func hostName() -> String {
        // The kernel's limit is 64; the last byte stays 0.
        var buffer = [CChar](repeating: 0, count: 65)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
}

/// The folder that relative paths of the configuration begin at.
struct ConfigurationFolder: Hashable, Sendable {
    /// The folder of the configuration file, ending in a slash; empty for the working directory.
    let prefix: String

    /// The folder of this file, by its name alone.
    init(of file: String) {
        prefix = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
    }

    /// The path as the process can open it.
    func resolve(_ path: String) -> String {
        path.hasPrefix("/") ? path : prefix + path
    }
}
