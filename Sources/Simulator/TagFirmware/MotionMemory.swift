public import JacquardProtocol
import Time

/// A simulated tag's modules and motion data. Sessions outlast a connection.
struct MotionMemory: Sendable {
    /// A stored session.
    struct Session: Sendable {
        var id: MotionSessionID
        var bytes: [UInt8]
    }

    /// A recording or a stream in progress.
    struct Collection: Sendable {
        var metadata: MotionMetadata
        var since: Instant
        /// When the next samples of a stream are sent; nil for a recording.
        var next: Instant?
        /// The number of samples so far.
        var count = 0
    }

    /// A transfer in progress.
    struct Transfer: Sendable {
        let bytes: [UInt8]
        /// The first byte of the packet that is not acknowledged.
        var offset: Int
        var sequence: UInt8 = 0
        /// When the packet is repeated.
        var repeatAt: Instant
        var repetitions = 0
        /// The link drops before this byte.
        var dropsAt: Int?
    }

    var modules = [FirmwareIdentity.motionModule]
    var sessions: [Session] = []
    var collection: Collection?
    var transfer: Transfer?

    /// The length of the data in a packet. Source: that of the longest packet, minus the sequence.
    static let packetLength = 512
    /// How long the tag waits for an acknowledgement.
    static let patience = Duration.seconds(2)
    /// The most repetitions of a packet.
    static let mostRepetitions = 5
    /// How long a simulated tag takes to load a module and to erase.
    static let delay = Duration.milliseconds(50)

    /// When something becomes due.
    var deadline: Instant? {
        [collection?.next, transfer?.repeatAt].compactMap(\.self).min()
    }

    /// Whether the motion module is active.
    var isActive: Bool { modules.contains { $0.isSameModule(as: .motion) && $0.isEnabled == true } }

    /// Gravity, and a sine on each axis. The step is that of a real recording.
    static func sample(_ number: Int, perSecond rate: Double) -> MotionSample {
        func wave(_ phase: Int, _ amplitude: Double) -> Int16 {
            // A parabola in place of a sine: this module needs no library.
            let position = Double((number * 3 + phase * 40) % 200) / 100
            let half = position < 1 ? position : position - 1
            return Int16(amplitude * 4 * half * (1 - half) * (position < 1 ? 1 : -1))
        }
        let step = 31_332 / rate
        return MotionSample(
            acceleration: SIMD3(wave(0, 300), wave(1, 300), 2048 + wave(2, 200)),
            rotation: SIMD3(wave(0, 900), wave(1, 500), wave(2, 700)),
            ticks: 103_799 &+ UInt32(truncatingIfNeeded: Int(Double(number) * step)))
    }
}

/// A fault of a simulated tag's motion data.
public enum MotionFault: Hashable, Sendable {
    /// Each packet is sent twice.
    case repeatedPackets
    /// A transfer ends with an empty packet.
    case emptyPacket
    /// The link is lost at these bytes of transfers, in order, once at each.
    case linkLost(at: [Int])
    /// Recordings have no end marker.
    case noEndMarker
    /// The list of sessions lacks one of them, and its end.
    case missingSession
    /// The state instead of idle.
    case status(MotionStatus)
}

extension Firmware {
    /// Carries out a request about modules.
    mutating func executeModuleRequest(_ request: Request, at now: Instant) -> FirmwareReply {
        switch (request.opcode, request.body) {
        case (.listModules, _): return .with(.modules(ListModuleResponse(modules: motion.modules)))
        case (.loadModule, .loadModule(let body)):
            guard let index = module(body) else { return .refused(.badParameter) }
            motion.modules[index].isEnabled = true
            let loaded = Notification.loaded(motion.modules[index], status: .ok)
            plan(loaded, at: now + MotionMemory.delay)
            return .ok
        case (.unloadModule, .unloadModule(let body)):
            guard let index = module(body) else { return .refused(.badParameter) }
            motion.modules[index].isEnabled = false
            (motion.collection, motion.transfer) = (nil, nil)
            return .ok
        case (.deleteModule, .deleteModule(let body)):
            guard let index = module(body) else { return .refused(.badParameter) }
            motion.modules.remove(at: index)
            (motion.collection, motion.transfer) = (nil, nil)
            return .ok
        default: return .refused(.badParameter)
        }
    }

    private func module(_ request: ModuleRequest) -> Int? {
        guard let wanted = request.module else { return nil }
        return motion.modules.firstIndex { $0.isSameModule(as: wanted) }
    }

    /// Carries out a request about motion data.
    mutating func executeMotionRequest(_ request: Request, at now: Instant) -> FirmwareReply {
        guard motion.isActive else { return .refused(.unsupported) }
        switch (request.opcode, request.body) {
        case (.motionStatus, .motionStatus): return .with(.motionStatus(MotionStatusResponse(motionStatus)))
        case (.motionStart, .motionStart(let body)):
            guard let metadata = body.metadata, let mode = metadata.mode else { return .refused(.badParameter) }
            guard motionStatus == .idle else {
                return FirmwareReply(status: .invalidState, body: .motionStart(MotionStatusResponse(motionStatus)))
            }
            motion.collection = MotionMemory.Collection(
                metadata: metadata, since: now, next: mode == .stream ? now + streamInterval : nil)
            return .with(.motionStart(MotionStatusResponse(.logging)))
        case (.motionStop, .motionStop):
            let reply = FirmwareReply.with(.motionStop(MotionStopResponse(.idle)))
            if let collection = motion.collection, collection.next == nil { store(collection, at: now) }
            (motion.collection, motion.transfer) = (nil, nil)
            return reply
        case (.motionSessionList, .motionSessionList):
            let notifications = sessionList.flatMap { notify($0.encoded(), on: .notify) }
            return FirmwareReply(
                body: .motionSessionList(MotionStatusResponse(motionStatus)), afterwards: notifications)
        case (.motionDownload, .motionDownload(let body)): return transfer(body, at: now)
        case (.motionErase, .motionErase(let body)):
            guard let index = motion.sessions.firstIndex(where: { $0.id.session == body.session }) else {
                return .refused(.badParameter)
            }
            motion.sessions.remove(at: index)
            return erased(.motionErase(MotionStatusResponse(.erasing)), at: now)
        case (.motionEraseAll, .motionEraseAll):
            motion.sessions = []
            return erased(.motionEraseAll(MotionStatusResponse(.erasing)), at: now)
        default: return .refused(.unsupported)
        }
    }

    private mutating func plan(_ notification: Notification, at instant: Instant) {
        guard !faults.losesNotifications else { return }
        let fragments = notify(notification)
        link?.plan(fragments, at: instant)
    }

    private mutating func erased(_ body: Response.Body, at now: Instant) -> FirmwareReply {
        plan(Notification.status(.idle), at: now + MotionMemory.delay)
        return .with(body)
    }

    private var motionStatus: MotionStatus {
        if case .status(let status) = faults.motion { return status }
        if motion.transfer != nil { return .transferring }
        if motion.collection != nil { return .logging }
        return battery.level < 50 ? .lowBattery : .idle
    }

    private var motionRate: Double { configuration.imu?.gyroscopeHertz ?? 25 }

    /// Three samples are in one notification.
    private var streamInterval: Duration { .nanoseconds(Int64(3e9 / motionRate)) }

    private var sessionList: [Notification] {
        guard !motion.sessions.isEmpty else { return [.session(nil, index: 0, total: 0)] }
        let total = UInt32(motion.sessions.count)
        let list = motion.sessions.enumerated().map { index, session in
            Notification.session(
                StoredMotionSession(
                    id: session.id, byteCount: UInt32(session.bytes.count), crc: CRC16.of(session.bytes)),
                index: UInt32(index), total: total)
        }
        return faults.motion == .missingSession ? list.dropLast() : list
    }

    /// Stores what was recorded.
    private mutating func store(_ collection: MotionMemory.Collection, at now: Instant) {
        let seconds =
            Double((now - collection.since).components.seconds)
            + Double((now - collection.since).components.attoseconds) / 1e18
        let id = MotionSessionID(
            session: collection.metadata.session ?? "", group: collection.metadata.group ?? "",
            campaign: collection.metadata.campaign ?? "", product: collection.metadata.product ?? "",
            subject: collection.metadata.subject ?? "")
        store(id, sampleCount: max(1, min(Int(seconds * motionRate), 100_000)))
    }

    /// Stores a session with so many samples.
    mutating func store(_ id: MotionSessionID, sampleCount: Int) {
        let rate = motionRate
        let samples = (0..<sampleCount).map { MotionMemory.sample($0, perSecond: rate) }
        let file = MotionFile(
            metadata: MotionMetadata(id, mode: .store), configuration: configuration.imu ?? IMUConfiguration(),
            actions: [MotionFile.Action(id: 1, samples: samples, result: faults.motion == .noEndMarker ? nil : 0)])
        motion.sessions.append(MotionMemory.Session(id: id, bytes: file.encoded()))
    }

    /// The bytes of a stored session, for tests.
    public func sessionBytes(_ index: Int) -> [UInt8] { motion.sessions[index].bytes }

    /// Replaces the bytes of the first session, for tests.
    public mutating func setSessionBytes(_ bytes: [UInt8]) {
        motion.sessions[0].bytes = bytes
    }

    // MARK: Transfers

    private mutating func transfer(_ request: MotionDownloadRequest, at now: Instant) -> FirmwareReply {
        guard let session = motion.sessions.first(where: { $0.id.session == request.session }),
            Int(request.offset ?? 0) <= session.bytes.count
        else { return .refused(.badParameter) }
        var transfer = MotionMemory.Transfer(
            bytes: session.bytes, offset: Int(request.offset ?? 0), repeatAt: now + MotionMemory.patience)
        if case .linkLost(let bytes) = faults.motion { transfer.dropsAt = bytes.first { transfer.offset < $0 } }
        motion.transfer = transfer
        return FirmwareReply(
            body: .motionDownload(MotionDownloadResponse(.transferring)), afterwards: packet(at: now))
    }

    /// The packet that is not acknowledged, or nothing at the end.
    private mutating func packet(at now: Instant) -> [FirmwareAction] {
        guard let transfer = motion.transfer else { return [] }
        guard transfer.offset < transfer.bytes.count else {
            motion.transfer = nil
            return []
        }
        if faults.motion == .emptyPacket, transfer.offset > 0 {
            motion.transfer = nil
            return notify([transfer.sequence], on: .rawData)
        }
        if let byte = transfer.dropsAt, transfer.offset + MotionMemory.packetLength > byte {
            motion.transfer = nil
            if case .linkLost(let bytes) = faults.motion {
                let rest = bytes.filter { $0 > byte }
                faults.motion = rest.isEmpty ? nil : .linkLost(at: rest)
            }
            return [.dropLink]
        }
        motion.transfer?.repeatAt = now + MotionMemory.patience
        let data = transfer.bytes[transfer.offset...].prefix(MotionMemory.packetLength)
        let actions = notify([transfer.sequence] + data, on: .rawData)
        return faults.motion == .repeatedPackets ? actions + actions : actions
    }

    /// Handles a fragment that the client has written to the raw data characteristic.
    mutating func rawWritten(_ value: [UInt8], at now: Instant) -> [FirmwareAction] {
        guard case .packet(let packet) = link?.rawReassembler.receive(value) else { return [] }
        guard packet.count == 2, packet.last == UInt8(ascii: "A"), let transfer = motion.transfer,
            packet.first == transfer.sequence
        else { return [] }
        motion.transfer?.offset = min(transfer.offset + MotionMemory.packetLength, transfer.bytes.count)
        motion.transfer?.sequence &+= 1
        motion.transfer?.repetitions = 0
        return self.packet(at: now)
    }

    /// Sends the samples of a stream, and repeats a packet without an acknowledgement.
    mutating func motionTimeReached(at now: Instant) -> [FirmwareAction] {
        var actions: [FirmwareAction] = []
        if let collection = motion.collection, let next = collection.next, next <= now {
            let samples = (0..<3).flatMap { MotionMemory.sample(collection.count + $0, perSecond: motionRate).encoded }
            let interval = streamInterval
            motion.collection?.count += 3
            motion.collection?.next = next + interval
            link?.lastActivity = now
            if link?.subscriptions.contains(.rawData) == true {
                actions.append(.notify([MotionValue.marker, 0] + samples, on: .rawData))
            }
        }
        if let transfer = motion.transfer, transfer.repeatAt <= now {
            if transfer.repetitions < MotionMemory.mostRepetitions {
                motion.transfer?.repetitions += 1
                actions += packet(at: now)
            } else {
                motion.transfer = nil
            }
        }
        return actions
    }
}
