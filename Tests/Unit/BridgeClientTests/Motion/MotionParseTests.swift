import BrokerAccess
import CommandLine
import Foundation
import JSON
import JacquardProtocol
import Synchronization
import Terminal
import TestSupport
import Testing

@testable import BridgeClient

/// `imu parse`, J56.
@Suite("J56 imu parse")
struct MotionParseTests {
    private static func file(lastResult: UInt16? = 0) -> MotionFile {
        var configuration = IMUConfiguration()
        configuration.accelerometerSampleRate = 8
        configuration.gyroscopeSampleRate = 3
        let samples = (0..<3).map { number in
            MotionSample(
                acceleration: SIMD3(-139, 0, 2048), rotation: SIMD3(-16384, 1, 0), ticks: 1000 + UInt32(number) * 157)
        }
        return MotionFile(
            metadata: MotionMetadata(MotionSessionID(session: "run-1"), mode: .store), configuration: configuration,
            actions: [MotionFile.Action(id: 1, samples: samples, result: lastResult)])
    }

    private static let program = ProgramDescription(name: "jacquard2mqtt", summary: "", details: [], sections: [])

    /// Runs the command line for a file with these bytes.
    private func run(_ words: [String], _ bytes: [UInt8]) throws -> (status: ExitCode, lines: [String]) {
        let folder = try ScratchFolder()
        let path = folder.path + "/run-1.bin"
        try Data(bytes).write(to: URL(filePath: path))
        let lines = LineBox()
        let table = CommandTable(program: Self.program, commands: [MotionCommand.row])
        guard case .command(let action as MotionParseAction) = try table.parse(["imu", "parse", path] + words) else {
            Issue.record("another command")
            return (.failed, [])
        }
        let printer = Printer(isJSON: words.contains("--json")) { lines.append($1) }
        return (action.run(printer: printer), lines.all)
    }

    @Test("prints the header")
    func header() throws {
        let (status, lines) = try run([], Self.file().encoded())
        #expect(status == .done)
        #expect(
            lines == [
                "session: run-1", "group: IMU_Group", "campaign: IMU_Campaign", "product: IMU_Product",
                "subject: IMU_Subject", "accelerometer: 200 Hz", "gyroscope: 200 Hz",
                "action 1: 3 samples, 0.010 s, result 0", "complete, 0 samples lost",
            ])
    }

    @Test("says that a file was cut off")
    func cutOff() throws {
        let (_, lines) = try run([], Self.file(lastResult: nil).encoded() + [1, 2])
        #expect(
            lines.suffix(2) == [
                "action 1: 3 samples, 0.010 s, cut off, without an end marker", "not complete, 0 samples lost",
            ])
    }

    @Test(
        "prints CSV with milliseconds, with seconds, or with the columns of Edge Impulse",
        arguments: [
            (["--csv"], "timestamp,ax_g,ay_g,az_g,gx_dps,gy_dps,gz_dps", "5.024"),
            (["--csv", "--seconds"], "t_s,ax_g,ay_g,az_g,gx_dps,gy_dps,gz_dps", "0.005024"),
            (["--edge-impulse"], "timestamp,accX,accY,accZ,gyrX,gyrY,gyrZ", "5.024"),
        ])
    func csv(words: [String], title: String, time: String) throws {
        let (status, lines) = try run(words, Self.file().encoded())
        #expect(status == .done)
        #expect(lines.count == 4)
        #expect(lines[0] == title)
        #expect(lines[2] == "\(time),-0.06787109375,0.0,1.0,-1000.0,0.06103515625,0.0")
    }

    @Test("prints all of it as JSON")
    func json() throws {
        let (status, lines) = try run(["--json"], Self.file().encoded())
        #expect(status == .done)
        let document = JSONValue(parsing: Array(lines[0].utf8))
        #expect(document?["accelerometer_hz"] == 200)
        #expect(document?["complete"] == true)
        #expect(document?["tick_us"] == 32)
        let samples = document?["actions"]?.elements?.first?["samples"]?.elements
        #expect(samples?.first == [-139, 0, 2048, -16384, 1, 0, 1000])
    }

    @Test("draws six curves, of a long file with at most two points for each column")
    func picture() throws {
        var file = Self.file()
        let sample = file.actions[0].samples[0]
        file.actions[0].samples = (0..<20_000).map { number in
            var sample = sample
            sample.acceleration.x = Int16(truncatingIfNeeded: number)
            sample.ticks = UInt32(number) * 157
            return sample
        }
        let (status, lines) = try run(["--svg"], file.encoded())
        #expect(status == .done)
        let curves = lines.filter { $0.hasPrefix("<polyline") }
        #expect(curves.count == 6)
        #expect(curves.allSatisfy { $0.utf8.count { $0 == UInt8(ascii: ",") } <= 2000 })
        #expect(lines.first?.hasPrefix("<svg ") == true)
        #expect(lines.last == "</svg>")
    }

    @Test("refuses other files, and files that do not exist")
    func refused() throws {
        let (status, lines) = try run([], Array("{}\n".utf8))
        #expect(status == .failed)
        #expect(lines.contains { $0.hasSuffix("is not a session file of a tag: it ends in its header") })
    }

    @Test(
        "refuses options that exclude each other",
        arguments: [["--csv", "--svg"], ["--seconds"], ["--json", "--csv"]])
    func options(words: [String]) {
        let table = CommandTable(program: Self.program, commands: [MotionCommand.row])
        #expect(throws: CommandLineError.self) { _ = try table.parse(["imu", "parse", "x.bin"] + words) }
    }
}

/// Lines that a command has printed.
private final class LineBox: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func append(_ line: String) -> Bool {
        lines.withLock { $0.append(line) }
        return true
    }
}
