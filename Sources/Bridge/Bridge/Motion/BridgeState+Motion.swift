import JSON
import JacquardProtocol
import Time

extension BridgeState {
    /// Handles motion data of a tag.
    mutating func motionReported(_ report: MotionReport, of position: Int, at now: Timestamp) -> [BridgeAction] {
        guard tags[position].rareFacts.first?.motion != nil else { return [] }
        switch report {
        case .samples(let value):
            guard tags[position].motion.stream?.batch.add(value, at: now.instant) == true else { return [] }
            return publish(batch(of: position, at: now))
        case .data(let bytes): return downloaded(bytes, of: position, at: now)
        case .status(let status):
            tags[position].motion.status = status
            if status != .logging, tags[position].motion.mode == .store { tags[position].motion.mode = .none }
            tags[position].motion.used(idle: configuration.options.motion.idle, at: now.instant)
            return publish(tags[position].motionPublications)
        }
    }

    /// Ends a batch of samples.
    private mutating func batch(of position: Int, at now: Timestamp) -> [Publication] {
        guard let stream = tags[position].motion.stream, stream.batch.count > 0 else { return [] }
        let payload =
            stream.isBinary ? stream.batch.bytes : JSONText.bytes(of: MotionDataDocument(stream.batch, at: now))
        tags[position].motion.stream?.batch.end()
        return [.stream(tags[position].topics[.imuData], payload: payload)]
    }

    // MARK: Downloads

    private mutating func downloaded(_ bytes: [UInt8], of position: Int, at now: Timestamp) -> [BridgeAction] {
        guard var download = tags[position].motion.download, download.isRunning, !download.isComplete else { return [] }
        guard !bytes.isEmpty else { return downloadFailed("the tag has ended the transfer early", position, at: now) }
        let size = Int(download.session.byteCount)
        guard download.received + bytes.count <= size else {
            return downloadFailed("the tag sends more bytes than it has listed", position, at: now)
        }
        guard download.unwritten + bytes.count <= MotionState.mostUnwritten else {
            return downloadFailed("the disk is slower than the tag", position, at: now)
        }
        download.received += bytes.count
        download.unwritten += bytes.count
        download.checksum.add(bytes)
        download.silentAt = now.instant + MotionState.silence
        download.isComplete = download.received == size
        if download.isComplete { download.silentAt = nil }
        tags[position].motion.download = download
        let id = tags[position].entry.id
        let append = BridgeAction.motionFile(.append(bytes, download.session), of: id)
        guard download.isComplete else { return [append] }
        guard download.checksum.value == download.session.crc else {
            return [append, .motionFile(.discard(download.session), of: id)]
                + downloadFailed("crc_mismatch: the file differs from the session of the tag", position, at: now)
        }
        return [append, .motionFile(.finish(download.session), of: id)]
    }

    /// Ends a download; its bytes stay in the incomplete file for the next one.
    private mutating func downloadFailed(_ reason: String, _ position: Int, at now: Timestamp) -> [BridgeAction] {
        let wasRunning = tags[position].motion.download?.isRunning ?? false
        tags[position].motion.download = nil
        tags[position].motion.error = reason
        tags[position].motion.idleAt = now.instant + configuration.options.motion.idle
        let stop = wasRunning && tags[position].isConnected ? [errand(.stop, .motion(.stop), position)] : []
        return stop + publish(tags[position].motionPublications)
    }

    /// Handles the result of work with a file.
    mutating func motionFile(
        _ id: TagID, _ session: StoredMotionSession, _ event: MotionFileEvent, at now: Timestamp
    ) -> [BridgeAction] {
        guard let position = tags.position(of: id), let download = tags[position].rareFacts.first?.motion?.download,
            download.session == session
        else { return [] }
        switch event {
        case .opened(let byteCount, let checksum):
            guard !download.isRunning, tags[position].isConnected else { return [] }
            let size = Int(download.session.byteCount)
            guard byteCount < size || (byteCount == size && checksum.value == download.session.crc) else {
                return [.motionFile(.discard(download.session), of: id)]
                    + downloadFailed("the incomplete file differs from the session of the tag", position, at: now)
            }
            tags[position].motion.download?.received = byteCount
            tags[position].motion.download?.checksum = checksum
            tags[position].motion.download?.unwritten = 0
            if byteCount == size {
                tags[position].motion.download?.isComplete = true
                return [.motionFile(.finish(download.session), of: id)]
            }
            tags[position].motion.download?.isRunning = true
            tags[position].motion.download?.silentAt = now.instant + MotionState.silence
            let goal = MotionGoal.download(download.session.id, offset: UInt32(byteCount))
            return [errand(.download, .motion(goal), position)] + publish(tags[position].motionPublications)
        case .written(let count):
            tags[position].motion.download?.unwritten = max(0, download.unwritten - count)
            return []
        case .finished(let path):
            tags[position].motion.download = nil
            tags[position].motion.file = path
            tags[position].motion.idleAt = now.instant + configuration.options.motion.idle
            if download.isErased { tags[position].motion.unerased = session.id }
            return eraseDownloaded(position) + publish(tags[position].motionPublications)
        case .failed(let reason): return downloadFailed(reason, position, at: now)
        }
    }

    /// Erases a downloaded session on the tag as requested, now or at the next connection.
    private mutating func eraseDownloaded(_ position: Int) -> [BridgeAction] {
        guard tags[position].isConnected, let id = tags[position].motion.unerased else { return [] }
        tags[position].motion.unerased = nil
        return [errand(.erase(id), .motion(.erase(id)), position)]
    }

    // MARK: The bridge's own commands

    private mutating func errand(
        _ errand: MotionState.Errand, _ command: TagCommand, _ position: Int
    ) -> BridgeAction {
        let token = pendingCommands.unusedToken()
        tags[position].motion.errands[token] = errand
        return .perform(command, on: tags[position].handle, token: token)
    }

    /// Handles the end of a command of the bridge's own.
    mutating func errandEnded(
        _ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>, of position: Int, at now: Timestamp
    ) -> [BridgeAction] {
        guard tags[position].rareFacts.first?.motion?.errands[token] != nil,
            let errand = tags[position].motion.errands.removeValue(forKey: token)
        else { return [] }
        switch (errand, result) {
        case (_, .success(.motionStatus(let status))): tags[position].motion.reported(status)
        case (.deactivate, .success): tags[position].motion.ended(as: .inactive)
        case (.deactivate, .failure):
            tags[position].motion.idleAt = now.instant + configuration.options.motion.idle
            return []
        case (.erase(let id), .success): tags[position].motion.sessions?.removeAll { $0.id == id }
        case (.erase(let id), .failure(.linkLost)), (.erase(let id), .failure(.notConnected)):
            tags[position].motion.unerased = id
            return []
        case (.erase, .failure(let error)):
            let failure = CommandFailure(error, tag: tags[position], at: now)
            tags[position].motion.error = "the session was not erased: \(failure.text)"
        case (.download, .failure(let error)) where error != .linkLost && error != .notConnected:
            let failure = CommandFailure(error, tag: tags[position], at: now)
            return downloadFailed(failure.text, position, at: now)
        default: return []
        }
        return publish(tags[position].motionPublications)
    }

    /// Handles a new connection of a tag, or the end of one.
    mutating func motionConnectionChanged(of position: Int, at now: Timestamp) -> [BridgeAction] {
        guard tags[position].rareFacts.first?.motion != nil else { return [] }
        guard tags[position].isConnected else {
            // A stream ends with its link, a recording goes on.
            if tags[position].motion.stream != nil {
                tags[position].motion.endStream()
                tags[position].motion.status = nil
            }
            tags[position].motion.download?.isRunning = false
            tags[position].motion.download?.silentAt = nil
            tags[position].motion.download?.until = now.instant + MotionState.patience
            return publish(tags[position].motionPublications)
        }
        let commands = [errand(.check, .motion(.status), position)] + eraseDownloaded(position)
        tags[position].motion.download?.until = nil
        guard let download = tags[position].motion.download, !download.isComplete else { return commands }
        return commands + [.motionFile(.open(download.session), of: tags[position].entry.id)]
    }

    /// Does what has become due.
    mutating func motionDue(of position: Int, at now: Timestamp) -> [BridgeAction] {
        guard let motion = tags[position].rareFacts.first?.motion, let deadline = motion.deadline,
            deadline <= now.instant
        else { return [] }
        var actions: [BridgeAction] = []
        if let stream = motion.stream, stream.until <= now.instant {
            actions += publish(batch(of: position, at: now))
            tags[position].motion.endStream()
            tags[position].motion.idleAt = now.instant + configuration.options.motion.idle
            actions.append(errand(.stop, .motion(.stop), position))
            actions += publish(tags[position].motionPublications)
        } else if let due = motion.stream?.batch.due, due <= now.instant {
            actions += publish(batch(of: position, at: now))
        }
        if let download = motion.download {
            if let silentAt = download.silentAt, silentAt <= now.instant {
                actions += downloadFailed("the tag sends no more data", position, at: now)
            } else if let until = download.until, until <= now.instant {
                actions += downloadFailed("the link was lost for too long", position, at: now)
            }
        }
        if let idleAt = motion.idleAt, idleAt <= now.instant {
            let isUnused = tags[position].isConnected && !tags[position].motion.isBusy
            // Without a connection, it is looked at again later.
            tags[position].motion.idleAt = isUnused ? nil : now.instant + configuration.options.motion.idle
            if isUnused {
                let name = ModuleDescriptor.motion.name ?? ""
                actions.append(errand(.deactivate, .changeModule(.deactivate, named: name), position))
            }
        }
        return actions
    }
}
