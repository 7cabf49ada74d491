import JSON
import JacquardProtocol
import Time

/// The events of a motion sensor. Each returns its effects in order.
extension MotionState {
    /// An effect of an event.
    enum Effect {
        /// Publish the state, and the list of sessions.
        case publishState
        /// Publish samples: the payload of `T/imu/data`.
        case publishSamples([UInt8])
        /// Send a command of the bridge's own.
        case send(Errand)
        /// Use the file of a session.
        case file(FeatureFileAction, StoredMotionSession)
    }

    /// The circumstances of an event.
    struct Conditions {
        /// Whether the tag is connected.
        let isConnected: Bool
        /// After which time an unused module is deactivated.
        let idle: Duration
        let now: Timestamp
    }

    /// Handles motion data of the tag.
    mutating func reported(_ report: MotionReport, in tag: Conditions, _ effects: inout [Effect]) {
        switch report {
        case .samples(let value):
            if stream?.batch.add(value, at: tag.now.instant) == true { endBatch(in: tag, &effects) }
        case .data(let bytes): downloaded(bytes, in: tag, &effects)
        }
    }

    /// Handles an error of the tag, which is its state.
    mutating func failed(_ error: ErrorNotification, in tag: Conditions, _ effects: inout [Effect]) {
        let new = MotionStatus(rawValue: error.errorCode)
        status = new
        if new != .logging, use.mode == .store { use.mode = .none }
        used(idle: tag.idle, at: tag.now.instant)
        effects.append(.publishState)
    }

    /// Handles a new connection of the tag, or the end of one.
    mutating func connectionChanged(in tag: Conditions, _ effects: inout [Effect]) {
        guard tag.isConnected else {
            // A recording goes on.
            if stream != nil { streamLost() }
            download?.interrupted(at: tag.now.instant)
            effects.append(.publishState)
            return
        }
        download?.until = nil
        effects.append(.send(.check))
        if doubt.areSessionsUnknown { effects.append(.send(.list)) }
        eraseDownloaded(in: tag, &effects)
        if let download, !download.isComplete { effects.append(.file(.open, download.session)) }
    }

    /// Handles the end of a command of the bridge's own.
    ///
    /// - Parameters:
    ///   - errand: its purpose.
    ///   - result: the response, or the error.
    ///   - text: the error in words.
    ///   - tag: the state of the tag.
    ///   - effects: gets the effects.
    mutating func ended(
        _ errand: Errand, _ result: Result<TagCommandResponse, TagCommandError>, _ text: String, in tag: Conditions,
        _ effects: inout [Effect]
    ) {
        if case .stop = errand {
            let hasSucceeded = if case .success = result { true } else { false }
            streamEnd.ended(hasSucceeded: hasSucceeded, at: tag.now.instant)
        }
        switch errand {
        case .check, .list: doubt.checked(result, at: tag.now.instant)
        default: break
        }
        switch (errand, result) {
        case (_, .success(.motionStatus(let status))):
            if status.module == .active { reported(status) } else { ended(as: status.module) }
            // A module that was active before the connection is unused from now on.
            used(idle: tag.idle, at: tag.now.instant)
        case (.list, .success(.motionSessions(let sessions, let isComplete))):
            listed(sessions, isComplete: isComplete)
            if !isComplete { doubt.checked(.failure(.timeout), at: tag.now.instant) }
            used(idle: tag.idle, at: tag.now.instant)
        case (.deactivate, .success): ended(as: .inactive)
        case (.deactivate, .failure):
            idleAt = tag.now.instant + tag.idle
            return
        // The tag has no such session: an earlier request has erased it, and its answer was lost.
        case (.erase(let id), .success), (.erase(let id), .failure(.status(.badParameter))):
            sessions?.removeAll { $0.id == id }
        case (.erase(let id), .failure(.linkLost)), (.erase(let id), .failure(.notConnected)):
            lastDownload.unerased = id
            return
        case (.erase(let id), .failure(let failure)):
            lastDownload.error = "the session was not erased: \(text)"
            if failure.leavesEffectUnknown {
                lastDownload.doubted = id
                doubt.responseLost(changesSessions: true, at: tag.now.instant)
            }
        // Without an answer the tag may send nevertheless: if it does not, the download ends after a silence.
        case (.download(let id, _), .failure(let error))
        where error != .notConnected && !error.leavesEffectUnknown && download?.session.id == id:
            return downloadFailed(text, in: tag, &effects)
        default: return
        }
        effects.append(.publishState)
    }

    /// Does what has become due.
    mutating func deadlineReached(in tag: Conditions, _ effects: inout [Effect]) {
        let now = tag.now.instant
        if let stream, stream.until <= now {
            endBatch(in: tag, &effects)
            effects += [.send(.stop), .publishState]
            endStream()
            idleAt = now + tag.idle
        } else if let due = stream?.batch.due, due <= now {
            endBatch(in: tag, &effects)
        }
        if let silentAt = download?.silentAt, silentAt <= now {
            downloadFailed("the tag sends no more data", in: tag, &effects)
        } else if let until = download?.until, until <= now {
            downloadFailed("the link was lost for too long", in: tag, &effects)
        }
        if streamEnd.takeDue(isWanted: tag.isConnected && stream == nil, at: now) { effects.append(.send(.stop)) }
        if doubt.takeDue(at: now), tag.isConnected {
            effects.append(.send(.check))
            if doubt.areSessionsUnknown { effects.append(.send(.list)) }
        }
        if let due = idleAt, due <= now {
            let isUnused = tag.isConnected && !isBusy
            // Without a connection, it is looked at again later.
            idleAt = isUnused ? nil : now + tag.idle
            if isUnused { effects.append(.send(.deactivate)) }
        }
    }

    /// Publishes the samples of a batch.
    private mutating func endBatch(in tag: Conditions, _ effects: inout [Effect]) {
        guard let stream, stream.batch.count > 0 else { return }
        self.stream?.batch.end()
        let bytes =
            stream.isBinary
            ? stream.batch.bytes : JSONText.bytes(of: MotionDataDocument(batch: stream.batch, now: tag.now))
        effects.append(.publishSamples(bytes))
    }
}

// MARK: Downloads

extension MotionState {
    /// Handles the result of work with the file of a session.
    mutating func fileReported(
        _ event: FeatureFileEvent, of session: StoredMotionSession, in tag: Conditions, _ effects: inout [Effect]
    ) {
        guard let download, download.session == session else { return }
        switch event {
        case .opened(let byteCount, let checksum):
            if !download.isRunning, tag.isConnected { opened(byteCount, checksum, in: tag, &effects) }
        case .written(let count): self.download?.unwritten = max(0, download.unwritten - count)
        case .finished(let path):
            self.download = nil
            lastDownload.file = path
            idleAt = tag.now.instant + tag.idle
            if download.isErased { lastDownload.unerased = session.id }
            eraseDownloaded(in: tag, &effects)
            effects.append(.publishState)
        case .failed(let reason): downloadFailed(reason, in: tag, &effects)
        }
    }

    /// Continues a download at the end of its file.
    private mutating func opened(
        _ byteCount: Int, _ checksum: CRC16, in tag: Conditions, _ effects: inout [Effect]
    ) {
        guard var download else { return }
        let session = download.session
        guard byteCount < session.byteCount || (byteCount == session.byteCount && checksum.value == session.crc) else {
            effects.append(.file(.discard, session))
            return downloadFailed("the incomplete file differs from the session of the tag", in: tag, &effects)
        }
        (download.received, download.checksum, download.unwritten) = (byteCount, checksum, 0)
        download.isComplete = byteCount == session.byteCount
        download.isRunning = !download.isComplete
        if download.isRunning { download.silentAt = tag.now.instant + Self.silence }
        self.download = download
        if download.isComplete {
            effects.append(.file(.finish, session))
        } else {
            effects += [.send(.download(session.id, offset: UInt32(byteCount))), .publishState]
        }
    }

    private mutating func downloaded(_ bytes: [UInt8], in tag: Conditions, _ effects: inout [Effect]) {
        guard var download, download.isRunning, !download.isComplete else { return }
        guard !bytes.isEmpty else { return downloadFailed("the tag has ended the transfer early", in: tag, &effects) }
        let session = download.session
        guard download.received + bytes.count <= session.byteCount else {
            return downloadFailed("the tag sends more bytes than it has listed", in: tag, &effects)
        }
        guard download.unwritten + bytes.count <= Self.mostUnwritten else {
            return downloadFailed("the disk is slower than the tag", in: tag, &effects)
        }
        download.received += bytes.count
        download.unwritten += bytes.count
        download.checksum.add(bytes)
        download.isComplete = download.received == session.byteCount
        download.silentAt = download.isComplete ? nil : tag.now.instant + Self.silence
        self.download = download
        effects.append(.file(.append(bytes), session))
        guard download.isComplete else { return }
        guard download.checksum.value == session.crc else {
            effects.append(.file(.discard, session))
            return downloadFailed("crc_mismatch: the file differs from the session of the tag", in: tag, &effects)
        }
        effects.append(.file(.finish, session))
    }

    /// Ends a download; its bytes stay in the incomplete file for the next one.
    private mutating func downloadFailed(_ reason: String, in tag: Conditions, _ effects: inout [Effect]) {
        let isToStop = tag.isConnected && download?.isRunning == true
        download = nil
        lastDownload.error = reason
        idleAt = tag.now.instant + tag.idle
        if isToStop { effects.append(.send(.stop)) }
        effects.append(.publishState)
    }

    /// Erases a downloaded session on the tag as requested, now or at the next connection.
    private mutating func eraseDownloaded(in tag: Conditions, _ effects: inout [Effect]) {
        guard tag.isConnected, let id = lastDownload.unerased else { return }
        lastDownload.unerased = nil
        effects.append(.send(.erase(id)))
    }
}

extension MotionState.Download {
    /// Handles the end of the link, which is waited for.
    fileprivate mutating func interrupted(at now: Instant) {
        isRunning = false
        silentAt = nil
        until = now + MotionState.patience
    }
}

extension MotionState.Errand {
    /// The command to the tag.
    var command: TagCommand {
        switch self {
        case .check: .motion(.status)
        case .list: .motion(.sessions)
        case .download(let id, let offset): .motion(.download(id, offset: offset))
        case .stop: .motion(.stop)
        case .deactivate: .changeModule(.deactivate, named: ModuleDescriptor.motion.name ?? "")
        case .erase(let id): .motion(.erase(id))
        }
    }
}
