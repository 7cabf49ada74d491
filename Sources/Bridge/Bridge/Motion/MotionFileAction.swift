public import JacquardProtocol

/// An operation of the driver on the file of a session. It reports each result by ``BridgeEvent/motionFile(_:_:_:)``.
public enum MotionFileAction: Equatable, Sendable {
    /// Open the file of a session, or continue one of an interrupted download.
    case open(StoredMotionSession)
    /// Append bytes.
    case append([UInt8], StoredMotionSession)
    /// Give the complete file its name.
    case finish(StoredMotionSession)
    /// Delete the incomplete file: its checksum is wrong.
    case discard(StoredMotionSession)

    /// The session.
    public var session: StoredMotionSession {
        switch self {
        case .open(let session), .append(_, let session), .finish(let session), .discard(let session): session
        }
    }
}

/// The result of a ``MotionFileAction``.
public enum MotionFileEvent: Equatable, Sendable {
    /// The file has so many bytes, with this checksum.
    case opened(byteCount: Int, checksum: CRC16)
    /// So many bytes were written.
    case written(Int)
    /// The complete file has this path.
    case finished(String)
    /// The file cannot be used.
    case failed(String)
}
