import EventLoop
public import JacquardProtocol
import Time

/// The progress of a transfer. Source: JacquardSDKiOS, `IMUSessionDownloadState`.
public enum IMUSessionDownloadState: Hashable, Sendable {
    /// So many percent were received.
    case downloading(Int)
    /// The whole session, which ``IMUModule/parseIMUSession(_:)`` reads.
    case downloaded([UInt8])
}

/// Why a transfer has failed.
public enum IMUDownloadError: Error, Equatable, Sendable {
    /// The transfer has ended early. Pass the received bytes to the next one, also of a later connection.
    case interrupted(received: [UInt8], TagCommandError)
    /// The bytes are not those of the session that the tag has listed. Start again without them.
    case checksumMismatch
    /// Another transfer runs.
    case downloadInProgress
}

/// The transfer of a session from a tag.
@LoopActor
final class IMUDownload {
    /// How long the tag may be silent.
    static let patience = Duration.seconds(10)

    /// Whether it has not ended.
    var isRunning: Bool { reader != nil }

    private let session: IMUSessionInfo
    private let tag: ConnectedTag
    private var reader: AsyncThrowingStream<IMUSessionDownloadState, any Error>.Continuation?
    private var received: [UInt8]
    private var percent = -1
    private var observer: Int?
    private lazy var silence = LoopTimer { [unowned self] in fail(.timeout) }

    init(
        _ session: IMUSessionInfo, after received: [UInt8], of tag: ConnectedTag,
        for reader: AsyncThrowingStream<IMUSessionDownloadState, any Error>.Continuation
    ) {
        self.session = session
        self.received = received
        self.tag = tag
        self.reader = reader
    }

    func begin() {
        guard !endIfComplete() else { return }
        // The observer keeps the transfer until it ends.
        observer = tag.observeMotion { report in
            switch report {
            case .data(let bytes): self.add(bytes)
            case .samples: break
            case nil: self.fail(.linkLost)
            }
        }
        silence.arm(at: .now + Self.patience)
        EventLoop.shared.begin { await self.request() }
    }

    private func request() async {
        do throws(TagCommandError) {
            try await tag.enqueue(.motion(.download(session.id, offset: UInt32(received.count))))
        } catch {
            fail(error)
        }
    }

    /// Ends the transfer early.
    func fail(_ error: TagCommandError) {
        end(.interrupted(received: received, error))
    }

    private func add(_ bytes: [UInt8]) {
        guard reader != nil else { return }
        guard !bytes.isEmpty else { return fail(.motionState(.idle)) }
        received += bytes
        silence.arm(at: .now + Self.patience)
        _ = endIfComplete()
    }

    /// Reports the progress, and the end.
    ///
    /// - Returns: whether the transfer has ended.
    private func endIfComplete() -> Bool {
        let size = Int(session.byteCount)
        guard received.count >= size else {
            let percent = received.count * 100 / size
            if percent > self.percent { reader?.yield(.downloading(percent)) }
            self.percent = percent
            return false
        }
        guard received.count == size, CRC16.of(received) == session.crc else {
            end(.checksumMismatch)
            return true
        }
        reader?.yield(.downloaded(received))
        end(nil)
        return true
    }

    private func end(_ error: IMUDownloadError?) {
        guard let reader else { return }
        self.reader = nil
        silence.disarm()
        if let observer { tag.endObservingMotion(observer) }
        reader.finish(throwing: error)
    }
}
