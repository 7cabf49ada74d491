import JSON
import JacquardProtocol
import Text

/// The payload of `T/imu`.
struct MotionDocument: Encodable {
    struct Download: Encodable {
        let session: String
        let bytes: Int
        let of: Int
    }

    @OrNull var accelerometerHertz: Double?
    @OrNull var gyroscopeHertz: Double?
    let tickMicroseconds = Int(MotionSample.tickMicroseconds)
    let gPerUnit = IMUConfiguration().gPerUnit
    let degreesPerUnit = IMUConfiguration().degreesPerSecondPerUnit
    @OrNull var code: UInt32?
    let mode: String
    @OrNull var module: String?
    @OrNull var session: String?
    @OrNull var state: String?
    let lost: Int
    @OrNull var download: Download?
    @OrNull var file: String?
    @OrNull var error: String?

    private enum CodingKeys: String, CodingKey {
        case accelerometerHertz = "accelerometer_hz"
        case gyroscopeHertz = "gyroscope_hz"
        case tickMicroseconds = "tick_us"
        case gPerUnit = "g_per_unit"
        case degreesPerUnit = "dps_per_unit"
        case code, mode, module, session, state, lost, download, file, error
    }

    init(_ motion: MotionState) {
        accelerometerHertz = motion.use.rates?.accelerometerHertz
        gyroscopeHertz = motion.use.rates?.gyroscopeHertz
        code = motion.status?.rawValue
        mode = motion.use.mode.rawValue
        module = motion.module?.word
        session = motion.use.session
        state = motion.download?.isRunning == true ? MotionStatus.transferring.word : motion.status?.word
        lost = motion.stream?.batch.losses.lost ?? motion.use.lost
        download = motion.download.map {
            Download(session: $0.session.id.session, bytes: $0.received, of: Int($0.session.byteCount))
        }
        file = motion.lastDownload.file
        error = motion.lastDownload.error
    }
}

/// A session in `T/imu/sessions`.
struct MotionSessionDocument: Encodable {
    let session: String
    let group: String
    let campaign: String
    let product: String
    let subject: String
    let bytes: Int
    let crc: String

    init(_ stored: StoredMotionSession) {
        session = stored.id.session
        group = stored.id.group
        campaign = stored.id.campaign
        product = stored.id.product
        subject = stored.id.subject
        bytes = Int(stored.byteCount)
        crc = String(stored.crc, radix: 16)
    }
}

/// The data of the results of `imu/get` and `imu/set`.
struct MotionResultDocument: Encodable {
    let imu: MotionDocument
    @OrNull var sessions: [MotionSessionDocument]?

    init(_ motion: MotionState, withSessions: Bool) {
        imu = MotionDocument(motion)
        sessions = withSessions ? (motion.sessions ?? []).map(MotionSessionDocument.init) : nil
    }
}

/// The payload of `T/imu/data` as JSON.
struct MotionDataDocument: Encodable {
    let samples: [[Int]]
    let lost: Int
    let sensor: Int
    let seq: Int
    let step: Int
    let ticks: Int
    let time: String

    private enum CodingKeys: String, CodingKey {
        case samples = "accel_gyro"
        case lost, sensor, seq, step, ticks, time
    }

    init(_ batch: MotionBatch, at now: Timestamp) {
        var rows: [[Int]] = []
        var first: UInt32?
        for start in stride(from: 0, to: batch.samples.count, by: MotionSample.byteCount) {
            guard let sample = MotionSample(batch.samples[start...]) else { continue }
            if first == nil { first = sample.ticks }
            let (acceleration, rotation) = (sample.acceleration, sample.rotation)
            rows.append(
                [acceleration.x, acceleration.y, acceleration.z, rotation.x, rotation.y, rotation.z].map { Int($0) })
        }
        samples = rows
        lost = batch.losses.lost
        sensor = Int(batch.sensor)
        seq = Int(batch.first)
        step = Int(batch.losses.step)
        ticks = Int(first ?? 0)
        time = now.text
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
