import Text

/// Fetches the broker's password from a file of one line, or from a credential of systemd.
struct PasswordFile {
    /// The greatest length, in bytes: that of a password of MQTT and its newline. Source: MQTT 5.0, 1.5.4.
    private static let limit = 65537

    /// The folder that relative paths begin at.
    let folder: ConfigurationFolder
    /// The folder of the service's credentials (`$CREDENTIALS_DIRECTORY` of systemd); nil outside of one.
    let credentials: String?

    /// Reads the password.
    ///
    /// - Parameter path: a name without a slash is looked for among the credentials first.
    /// - Returns: the line, without its newline.
    /// - Throws: `Rejection` if the file cannot be read or holds anything but one line of text.
    func read(_ path: String) throws(Rejection) -> Secret {
        let contents = try contents(of: path)
        guard let text = String(validating: contents.bytes, as: UTF8.self) else { throw Rejection("is not UTF-8 text") }
        // Editors of Windows write a byte order mark; it is accepted in the configuration as well.
        let password = text.first == "\u{FEFF}" ? text.dropFirst() : text[...]
        // "\r\n" is one character of Swift.
        let line = password.last?.isNewline == true ? password.dropLast() : password
        guard !line.isEmpty else { throw Rejection("is an empty file") }
        guard !line.contains(where: \.isNewline) else { throw Rejection("holds more than one line") }
        guard !line.utf8.contains(where: ASCII.isControl) else { throw Rejection("holds a control character") }
        return Secret(value: String(line))
    }

    private func contents(of path: String) throws(Rejection) -> FileContents {
        if let credentials, !path.contains("/") {
            do throws(FileError) {
                return try FileContents(path: "\(credentials)/\(path)", limit: Self.limit)
            } catch {
                guard error.isMissing else {
                    throw Rejection("cannot be read as a credential: \(error.reason)")
                }
            }
        }
        let file = folder.resolve(path)
        do throws(FileError) {
            return try FileContents(path: file, limit: Self.limit)
        } catch {
            throw Rejection("cannot be read: \(error.reason(for: file))")
        }
    }
}
