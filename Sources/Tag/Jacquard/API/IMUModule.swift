public import EventLoop
public import JacquardProtocol

/// A sample of the motion sensor. Source: JacquardSDKiOS, `IMUSample`.
public typealias IMUSample = MotionSample
/// The rates of the accelerometer and the gyroscope. Source: JacquardSDKiOS, `IMUSamplingRate`.
public typealias IMUSamplingRate = MotionRates
/// A session on the tag. Source: JacquardSDKiOS, `IMUSessionInfo`.
public typealias IMUSessionInfo = StoredMotionSession
/// A session that was read. Source: JacquardSDKiOS, `IMUSessionData`.
public typealias IMUSessionData = MotionFile
/// The state of the motion sensor. Source: JacquardSDKiOS, `DataCollectionStatus`.
public typealias DataCollectionStatus = MotionStatus

extension IMUSamplingRate {
    /// 100 Hz and 200 Hz. Source: JacquardSDKiOS, `IMUSamplingRate`.
    public static let mid = fixed(accelerometerHertz: 100, gyroscopeHertz: 200)
    /// 400 Hz and 800 Hz. Source: JacquardSDKiOS, `IMUSamplingRate`.
    public static let high = fixed(accelerometerHertz: 400, gyroscopeHertz: 800)

    private static func fixed(accelerometerHertz: Double, gyroscopeHertz: Double) -> IMUSamplingRate {
        IMUSamplingRate(accelerometerHertz: accelerometerHertz, gyroscopeHertz: gyroscopeHertz) ?? .low
    }
}

/// The destination of the data that the tag collects. Source: JacquardSDKiOS, `DataCollectionMode`, with its numbers.
public enum DataCollectionMode: Int32, Hashable, Sendable {
    /// Nothing.
    case none = 0
    /// A session in its memory.
    case store = 1
    /// Samples for the client.
    case streaming = 2
}

/// The module that collects motion data. Source: JacquardSDKiOS, `IMUModule`.
///
/// The methods have the names of the SDK. They are asynchronous functions instead of publishers, and a session is bytes in
/// memory instead of a file. An active module keeps the tag from waking on motion and empties its battery: call
/// ``LoadableModule/deactivateModule()`` after use.
@LoopActor
public final class IMUModule: LoadableModule {
    /// The tag.
    public let connectedTag: ConnectedTag
    /// The module's name and numbers.
    public let module = ModuleDescriptor.motion
    private var download: IMUDownload?

    /// The module of a connected tag. For a later connection, create another one.
    public init(connectedTag: ConnectedTag) {
        self.connectedTag = connectedTag
    }

    // MARK: Recording

    /// Records a session in the tag's memory. The battery must have 50 %.
    ///
    /// - Parameters:
    ///   - sessionID: a unique name. Each text has 1 to 30 characters.
    ///   - campaignID: the campaign.
    ///   - groupID: the group.
    ///   - productID: the product.
    ///   - subjectID: the subject.
    ///   - samplingRate: the rates.
    /// - Returns: `logging`.
    /// - Throws: `motionState` unless the sensor is idle, `invalidParameter` for an invalid text.
    @discardableResult
    public func startRecording(
        sessionID: String, campaignID: String, groupID: String, productID: String, subjectID: String,
        samplingRate: IMUSamplingRate = .low
    ) async throws(TagCommandError) -> DataCollectionStatus {
        let id = MotionSessionID(
            session: sessionID, group: groupID, campaign: campaignID, product: productID, subject: subjectID)
        guard id.isValid else { throw .invalidParameter }
        let status = Self.status(try await connectedTag.enqueue(.motion(.record(id, samplingRate))))
        await setMode(.store)
        return status
    }

    /// Ends the recording.
    public func stopRecording() async throws(TagCommandError) { try await stop() }

    /// The state of the sensor; nil unless the module is active.
    public func checkStatus() async throws(TagCommandError) -> DataCollectionStatus? {
        guard case .motionStatus(let status) = try await connectedTag.enqueue(.motion(.status)) else { return nil }
        return status.status
    }

    /// The present destination of the data, or the last one. It is right only while ``checkStatus()`` is `logging`.
    ///
    /// Reads the value that this module, and Google's SDKs, write when they start something: the iOS SDK a number, the Android
    /// SDK a text with the numbers of the protocol.
    public func getDataCollectionMode() async throws(TagCommandError) -> DataCollectionMode {
        let response = try await connectedTag.enqueue(
            .configGet(key: Self.modeKey, vendor: module.vendorID, product: module.productID))
        return switch response {
        case .configValue(.int32(let number)): DataCollectionMode(rawValue: number) ?? .none
        case .configValue(.string("0")): .streaming
        case .configValue(.string("1")): .store
        default: .none
        }
    }

    // MARK: Sessions

    /// The sessions on the tag.
    ///
    /// - Throws: `timeout` if the tag does not send the whole list.
    public func listSessions() async throws(TagCommandError) -> [IMUSessionInfo] {
        guard case .motionSessions(let sessions, let isComplete) = try await connectedTag.enqueue(.motion(.sessions))
        else { throw .malformedResponse }
        guard isComplete else { throw .timeout }
        return sessions
    }

    /// Erases a session on the tag, within a minute.
    public func eraseSession(_ session: IMUSessionInfo) async throws(TagCommandError) {
        try await connectedTag.enqueue(.motion(.erase(session.id)))
    }

    /// Erases all sessions on the tag, within a minute.
    public func eraseAllSessions() async throws(TagCommandError) {
        try await connectedTag.enqueue(.motion(.erase(nil)))
    }

    /// Transfers a session. Its size and checksum are compared with those of the list.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - received: the bytes of an earlier transfer that was interrupted; the tag sends the rest.
    /// - Returns: the progress, and then the session. It throws ``IMUDownloadError``.
    public func downloadIMUSessionData(
        session: IMUSessionInfo, after received: [UInt8] = []
    ) -> AsyncThrowingStream<IMUSessionDownloadState, any Error> {
        let (stream, reader) = AsyncThrowingStream.makeStream(
            of: IMUSessionDownloadState.self, bufferingPolicy: .bufferingNewest(16))
        guard download?.isRunning != true else {
            reader.finish(throwing: IMUDownloadError.downloadInProgress)
            return stream
        }
        let download = IMUDownload(session, after: received, of: connectedTag, for: reader)
        self.download = download
        download.begin()
        return stream
    }

    /// Ends the transfer. Its stream throws ``IMUDownloadError/interrupted(received:_:)``.
    public func stopDownloading() async throws(TagCommandError) {
        download?.fail(.notConnected)
        download = nil
        try await stop()
    }

    /// Reads a session.
    ///
    /// - Parameter bytes: the session as ``downloadIMUSessionData(session:after:)`` returns it.
    /// - Returns: the session, and whether it was read up to its end.
    /// - Throws: an error if the bytes are not a session.
    public nonisolated func parseIMUSession(
        _ bytes: [UInt8]
    ) throws(MotionFile.ReadError) -> (fullyParsed: Bool, session: IMUSessionData) {
        let session = try MotionFile(parsing: bytes)
        return (session.isComplete, session)
    }

    // MARK: Streaming

    /// Streams samples until ``stopIMUStreaming()``, or the end of the connection.
    ///
    /// - Parameter samplingRate: the rates.
    /// - Returns: the samples. The stream buffers the newest 4,096.
    /// - Throws: `motionState` unless the sensor is idle.
    public func startIMUStreaming(
        samplingRate: IMUSamplingRate = .low
    ) async throws(TagCommandError) -> AsyncStream<IMUSample> {
        let (stream, reader) = AsyncStream.makeStream(of: IMUSample.self, bufferingPolicy: .bufferingNewest(4_096))
        let number = connectedTag.observeMotion { report in
            switch report {
            case .samples(let value): value.forEach { reader.yield($0) }
            case .data: break
            case nil: reader.finish()
            }
        }
        let tag = connectedTag
        reader.onTermination = { _ in EventLoop.shared.begin { tag.endObservingMotion(number) } }
        do {
            try await connectedTag.enqueue(.motion(.stream(samplingRate)))
        } catch {
            reader.finish()
            throw error
        }
        await setMode(.streaming)
        streams.append(reader)
        return stream
    }

    /// Ends the stream of samples.
    public func stopIMUStreaming() async throws(TagCommandError) {
        try await stop()
        for reader in streams { reader.finish() }
        streams = []
    }

    private var streams: [AsyncStream<IMUSample>.Continuation] = []

    private func stop() async throws(TagCommandError) {
        try await connectedTag.enqueue(.motion(.stop))
        await setMode(.none)
    }

    /// Stores the mode for other clients. A tag without a store collects as well.
    private func setMode(_ mode: DataCollectionMode) async {
        _ = try? await connectedTag.enqueue(
            .configSet(
                key: Self.modeKey, .int32(mode.rawValue), vendor: module.vendorID, product: module.productID))
    }

    /// Source: JacquardSDKiOS, `IMUModuleImplementation`.
    private static let modeKey = "current_dc_mode"

    private static func status(_ response: TagCommandResponse) -> DataCollectionStatus {
        if case .motionStatus(let status) = response { status.status ?? .logging } else { .logging }
    }
}
