import JSON
import JacquardProtocol
import Text

/// The payload of `T/imu`.
struct MotionDocument: JSONRecord {
    let motion: MotionState

    func addMembers(to object: inout JSONWriter) {
        let isTransferring = motion.download?.isRunning == true
        object.add("accelerometer_hz", motion.use.rates?.accelerometerHertz)
        object.add("code", motion.status?.rawValue)
        object.add("download", motion.download.map(MotionDownloadDocument.init))
        object.add("dps_per_unit", IMUConfiguration().degreesPerSecondPerUnit)
        object.add("error", motion.lastDownload.error)
        object.add("file", motion.lastDownload.file)
        object.add("g_per_unit", IMUConfiguration().gPerUnit)
        object.add("gyroscope_hz", motion.use.rates?.gyroscopeHertz)
        object.add("lost", motion.stream?.batch.losses.lost ?? motion.use.lost)
        object.add("mode", motion.use.mode.rawValue)
        object.add("module", motion.module?.word)
        object.add("session", motion.use.session)
        object.add("state", isTransferring ? MotionStatus.transferring.word : motion.status?.word)
        object.add("tick_us", Int(MotionSample.tickMicroseconds))
    }
}

/// The transfer in `T/imu`.
private struct MotionDownloadDocument: JSONRecord {
    let download: MotionState.Download

    func addMembers(to object: inout JSONWriter) {
        object.add("bytes", download.received)
        object.add("of", Int(download.session.byteCount))
        object.add("session", download.session.id.session)
    }
}

/// A session in `T/imu/sessions`.
struct MotionSessionDocument: JSONRecord {
    let stored: StoredMotionSession

    func addMembers(to object: inout JSONWriter) {
        object.add("bytes", Int(stored.byteCount))
        object.add("campaign", stored.id.campaign)
        object.add("crc", String(stored.crc, radix: 16))
        object.add("group", stored.id.group)
        object.add("product", stored.id.product)
        object.add("session", stored.id.session)
        object.add("subject", stored.id.subject)
    }
}

/// The payload of `T/imu/data` as JSON.
struct MotionDataDocument: JSONRecord {
    let batch: MotionBatch
    let now: Timestamp

    func addMembers(to object: inout JSONWriter) {
        let samples = stride(from: 0, to: batch.samples.count, by: MotionSample.byteCount).compactMap { start in
            MotionSample(batch.samples[start...])
        }
        let rows = samples.map { sample in
            [sample.acceleration, sample.rotation].flatMap { [Int($0.x), Int($0.y), Int($0.z)] }
        }
        object.add("accel_gyro", rows)
        object.add("lost", batch.losses.lost)
        object.add("sensor", batch.sensor)
        object.add("seq", batch.first)
        object.add("step", Int(batch.losses.step))
        object.add("ticks", samples.first?.ticks ?? 0)
        object.add("time", now)
    }
}

extension MotionBatch {
    /// The payload of `T/imu/data` as bytes: `J2M1`, sensor, flags, count, number of the first sample, lost samples, and the
    /// samples unchanged. Numbers have their low byte first.
    var bytes: [UInt8] {
        func number(_ value: UInt32, _ count: UInt32) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var bytes = Array("J2M1".utf8)
        bytes += [sensor, 0]
        bytes += number(UInt32(count), 2)
        bytes += number(first, 4)
        bytes += number(UInt32(clamping: losses.lost), 4)
        return bytes + samples
    }
}

extension MotionModuleStatus.Module {
    var word: String {
        switch self {
        case .active: "active"
        case .inactive: "inactive"
        case .missing: "missing"
        }
    }
}

extension MotionStatus {
    /// The word in `state`. The number is in `code`.
    var word: String {
        switch self {
        case .idle: "idle"
        case .logging: "logging"
        case .transferring: "transferring"
        case .erasing: "erasing"
        case .lowStorage: "low_storage"
        case .lowBattery: "low_battery"
        default: "error"
        }
    }
}

extension MotionDocument {
    static let topic = TopicRow("imu", .fact, isOnPage: false) { document in
        if let error = document["error"]?.word { return "motion sensor: the download failed: \(error)" }
        if let download = document["download"], let of = download["of"]?.integer, of > 0 {
            // In floating point: any value may be in a message.
            let share = Double(download["bytes"]?.integer ?? 0) / Double(of)
            let percent = Int(min(max(share, 0), 1) * 100)
            return "motion sensor: transfers the session \(download["session"]?.word ?? ""), \(percent) %"
        }
        let mode = ["store": "records", "stream": "streams"][document["mode"]?.word ?? ""]
        let state = document["state"]?.word?.asWords ?? "module is \(document["module"]?.word ?? "unknown")"
        return "motion sensor: " + (mode.map { "\($0), " } ?? "") + state
    }
}

extension MotionSessionDocument {
    static let topic = TopicRow("imu/sessions", .fact, isOnPage: false) { document in
        "has \(counted(document.elements?.count ?? 0, "recorded session"))"
    }
}

extension MotionDataDocument {
    static let topic = TopicRow("imu/data", .stream, isOnPage: false)
}
