import JSON
import JacquardProtocol
import Text

/// The header of a session file for people, and all of the file as JSON.
struct MotionFileReport {
    private let file: MotionFile

    init(_ file: MotionFile) {
        self.file = file
    }

    /// The document.
    var document: JSONValue {
        let (metadata, configuration) = (file.metadata, file.configuration)
        return [
            "session": JSONValue(metadata.session), "group": JSONValue(metadata.group),
            "campaign": JSONValue(metadata.campaign), "product": JSONValue(metadata.product),
            "subject": JSONValue(metadata.subject),
            "accelerometer_hz": configuration.accelerometerHertz.map(Self.number) ?? .null,
            "gyroscope_hz": configuration.gyroscopeHertz.map(Self.number) ?? .null,
            "g_per_unit": .number(configuration.gPerUnit),
            "dps_per_unit": .number(configuration.degreesPerSecondPerUnit),
            "tick_us": .integer(Int64(MotionSample.tickMicroseconds)), "complete": .bool(file.isComplete),
            "samples": .integer(Int64(file.sampleCount)), "lost": .integer(Int64(file.lostSampleCount)),
            "actions": .array(file.actions.map(Self.document)),
        ]
    }

    private static func document(_ action: MotionFile.Action) -> JSONValue {
        [
            "action": .integer(Int64(action.id)), "result": action.result.map { .integer(Int64($0)) } ?? .null,
            "samples": .array(action.samples.map { .array($0.numbers.map(JSONValue.integer)) }),
        ]
    }

    /// The lines for people. The texts are those of the file.
    var lines: [String] {
        let (metadata, configuration) = (file.metadata, file.configuration)
        let texts = [
            ("session", metadata.session), ("group", metadata.group), ("campaign", metadata.campaign),
            ("product", metadata.product), ("subject", metadata.subject),
            ("accelerometer", configuration.accelerometerHertz.map { "\(Self.text($0)) Hz" }),
            ("gyroscope", configuration.gyroscopeHertz.map { "\(Self.text($0)) Hz" }),
        ]
        var lines = texts.compactMap { name, text in text.map { "\(name): \($0)" } }
        for action in file.actions {
            let first = action.samples.first?.ticks ?? 0
            let milliseconds = MotionTable.microseconds(action.samples.last?.ticks ?? 0, since: first) / 1000
            let duration = "\(milliseconds / 1000).\(String(String(milliseconds % 1000 + 1000).dropFirst())) s"
            let result = action.result.map { "result \($0)" } ?? "cut off, without an end marker"
            lines.append("action \(action.id): \(counted(action.samples.count, "sample")), \(duration), \(result)")
        }
        lines.append(
            "\(file.isComplete ? "complete" : "not complete"), \(counted(file.lostSampleCount, "sample")) lost")
        return lines
    }

    private static func number(_ hertz: Double) -> JSONValue {
        hertz == hertz.rounded() ? .integer(Int64(hertz)) : .number(hertz)
    }

    private static func text(_ hertz: Double) -> String {
        hertz == hertz.rounded() ? "\(Int(hertz))" : "\(hertz)"
    }
}

extension MotionSample {
    /// The numbers as they are in the file: acceleration, rotation, ticks.
    var numbers: [Int64] {
        [acceleration.x, acceleration.y, acceleration.z, rotation.x, rotation.y, rotation.z].map(Int64.init) + [
            Int64(ticks)
        ]
    }
}

/// The samples of a session file as lines of CSV.
struct MotionTable {
    /// The columns.
    enum Columns: Hashable, Sendable {
        /// `timestamp` in milliseconds, then g and degrees per second.
        case milliseconds
        /// `t_s` in seconds, then g and degrees per second.
        case seconds
        /// The columns that the uploader of Edge Impulse takes.
        case edgeImpulse

        /// The first line.
        var title: String {
            switch self {
            case .milliseconds: "timestamp,ax_g,ay_g,az_g,gx_dps,gy_dps,gz_dps"
            case .seconds: "t_s,ax_g,ay_g,az_g,gx_dps,gy_dps,gz_dps"
            case .edgeImpulse: "timestamp,accX,accY,accZ,gyrX,gyrY,gyrZ"
            }
        }
    }

    private let file: MotionFile
    private let columns: Columns

    init(_ file: MotionFile, _ columns: Columns) {
        self.file = file
        self.columns = columns
    }

    /// Calls a closure with each line. Times begin with 0 at the first sample of the file.
    func forEachLine(_ body: (String) -> Void) {
        body(columns.title)
        let first = file.actions.first { !$0.samples.isEmpty }?.samples.first?.ticks ?? 0
        for action in file.actions {
            for sample in action.samples {
                let values = sample.values(file.configuration).map { "\($0)" }
                body(([time(sample, since: first)] + values).joined(separator: ","))
            }
        }
    }

    private func time(_ sample: MotionSample, since first: UInt32) -> String {
        let microseconds = Self.microseconds(sample.ticks, since: first)
        return columns == .seconds ? Self.decimal(microseconds, 1_000_000) : Self.decimal(microseconds, 1000)
    }

    /// The time from one tick to another. The tag's clock wraps around.
    static func microseconds(_ ticks: UInt32, since first: UInt32) -> UInt64 {
        UInt64(ticks &- first) * MotionSample.tickMicroseconds
    }

    /// The quotient with all its digits.
    static func decimal(_ value: UInt64, _ divisor: UInt64) -> String {
        "\(value / divisor).\(String(value % divisor + divisor).dropFirst())"
    }
}

extension MotionSample {
    /// Acceleration in g and rotation in degrees per second.
    func values(_ configuration: IMUConfiguration) -> [Double] {
        [acceleration.x, acceleration.y, acceleration.z].map { Double($0) * configuration.gPerUnit }
            + [rotation.x, rotation.y, rotation.z].map { Double($0) * configuration.degreesPerSecondPerUnit }
    }
}
