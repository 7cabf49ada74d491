public import JSON
public import JacquardProtocol

/// A file of a feature that grows in parts, in a folder of the configuration.
public struct FeatureFile: Hashable, Sendable {
    /// The most that a folder holds.
    public struct Limit: Hashable, Sendable {
        /// In MiB.
        public let mebibytes: Int
        /// The key of the configuration that says so.
        public let key: String

        /// Describes a limit.
        public init(mebibytes: Int, key: String) {
            (self.mebibytes, self.key) = (mebibytes, key)
        }
    }

    /// A noun for error texts, such as `session`.
    public let noun: String
    /// The folder, of which each tag has a part.
    public let folder: String
    /// The most that it holds, with the files of all tags.
    public let limit: Limit
    /// The file's name while it is incomplete. It contains nothing that comes from outside.
    public let name: String
    /// The length of the complete file in bytes.
    public let byteCount: Int
    /// The CRC-16 of the complete file.
    public let crc: UInt16
    /// What is written beside it when it is complete: an object.
    public let description: JSONValue

    /// Describes a file.
    public init(
        noun: String, folder: String, limit: Limit, name: String, byteCount: Int, crc: UInt16, description: JSONValue
    ) {
        (self.noun, self.folder, self.limit, self.name) = (noun, folder, limit, name)
        (self.byteCount, self.crc, self.description) = (byteCount, crc, description)
    }
}

/// An operation of the driver on a file. It reports each result by ``BridgeEvent/file(_:_:_:)``.
public enum FeatureFileAction: Equatable, Sendable {
    /// Open the file, or continue an incomplete one.
    case open
    /// Append bytes.
    case append([UInt8])
    /// Give the complete file its name.
    case finish
    /// Delete the incomplete file: its checksum is wrong.
    case discard
}

/// The result of a ``FeatureFileAction``.
public enum FeatureFileEvent: Equatable, Sendable {
    /// The file has so many bytes, with this checksum.
    case opened(byteCount: Int, checksum: CRC16)
    /// So many bytes were written.
    case written(Int)
    /// The complete file has this path.
    case finished(String)
    /// The file cannot be used.
    case failed(String)
}
