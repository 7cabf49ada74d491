import Bluetooth
import EventLoop
import Foundation
import JacquardProtocol
import TagStage
import Tags
import TestSupport
import Testing

@testable import Jacquard

@Suite("The motion module of a connected tag")
struct IMUModuleTests {
    private static let bytes = (0..<90).map { UInt8($0) }
    private static let session = IMUSessionInfo(
        id: MotionSessionID(session: "run-1"), byteCount: 90, crc: CRC16.of(bytes))

    /// A connected tag, and its module.
    @LoopActor
    private static func connected() throws -> (stage: Stage, module: IMUModule) {
        let stage = Stage()
        let address = stage.hear(1)
        try stage.jacquard.connect(address)
        return (stage, try module(of: stage, address))
    }

    /// The module of the connection that the tag accepts now.
    @LoopActor
    private static func module(of stage: Stage, _ address: BluetoothAddress) throws -> IMUModule {
        stage.link(address)
        stage.start(address)
        _ = stage.said()
        return IMUModule(connectedTag: try #require(stage.jacquard.connectedTag(for: address)))
    }

    /// The tag lists the motion module.
    @LoopActor
    private static func listModule(_ stage: Stage, _ module: IMUModule, isEnabled: Bool = true) async throws {
        _ = try await stage.said(upTo: "> write 01")
        var motion = ModuleDescriptor.motion
        motion.isEnabled = isEnabled
        stage.answer(module.connectedTag.identifier, .modules(ListModuleResponse(modules: [motion])))
    }

    /// The tag sends a packet of raw data.
    @LoopActor
    private static func send(_ packet: [UInt8], _ stage: Stage, _ module: IMUModule) throws {
        for value in try Fragmenter.fragments(of: packet) {
            stage.central.report(
                .notified(module.connectedTag.identifier, JacquardGATT.uuid(.rawData), value))
        }
    }

    /// Runs a call of the module while the test answers it.
    @LoopActor
    private static func call<Value: Sendable>(
        _ body: @escaping @LoopActor @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        Task { @LoopActor in try await body() }
    }

    /// Transfers the session while the test answers.
    @LoopActor
    private static func download(_ module: IMUModule) -> Task<Void, any Error> {
        call { for try await _ in module.downloadIMUSessionData(session: session) {} }
    }

    @Test("transfers one session at a time")
    func oneAtATime() async throws {
        try await onLoop {
            let (stage, module) = try Self.connected()
            let first = Self.download(module)
            try await Self.listModule(stage, module)
            await #expect(throws: IMUDownloadError.downloadInProgress) {
                try await Self.download(module).value
            }
            stage.lose(module.connectedTag.identifier)
            await #expect(throws: IMUDownloadError.self) { try await first.value }
        }
    }

    @Test("transfers a session, and continues after a lost link with the bytes that were received")
    func download() async throws {
        try await onLoop {
            let (stage, module) = try Self.connected()
            let first = Self.download(module)
            try await Self.listModule(stage, module)
            stage.answer(module.connectedTag.identifier, .motionDownload(MotionDownloadResponse(.transferring)))
            try Self.send([1] + Self.bytes[..<40], stage, module)
            // A repeated packet.
            try Self.send([1] + Self.bytes[..<40], stage, module)
            stage.lose(module.connectedTag.identifier)
            await #expect(throws: IMUDownloadError.interrupted(received: Array(Self.bytes[..<40]), .linkLost)) {
                try await first.value
            }
            _ = try await stage.said(upTo: "> connect 01")
            let next = try Self.module(of: stage, module.connectedTag.identifier)
            let second = Self.call {
                var states: [IMUSessionDownloadState] = []
                let received = Array(Self.bytes[..<40])
                for try await state in next.downloadIMUSessionData(session: Self.session, after: received) {
                    states.append(state)
                }
                return states
            }
            try await Self.listModule(stage, next)
            stage.answer(next.connectedTag.identifier, .motionDownload(MotionDownloadResponse(.transferring)))
            try Self.send([1] + Self.bytes[40...], stage, next)
            #expect(try await second.value == [.downloading(44), .downloaded(Self.bytes)])
        }
    }

    @Test("requests nothing for a session of which all bytes were received")
    func received() async throws {
        try await onLoop {
            let (stage, module) = try Self.connected()
            var states: [IMUSessionDownloadState] = []
            for try await state in module.downloadIMUSessionData(session: Self.session, after: Self.bytes) {
                states.append(state)
            }
            #expect(states == [.downloaded(Self.bytes)])
            // A request would be written in an earlier turn.
            try await Self.call {}.value
            #expect(stage.said() == [])
        }
    }

    @Test("rejects a session whose bytes differ from the list, and a transfer that the tag ends early")
    func damaged() async throws {
        try await onLoop {
            for (packet, error) in [
                ([UInt8](repeating: 7, count: 90), IMUDownloadError.checksumMismatch),
                ([], .interrupted(received: [], .motionState(.idle))),
            ] {
                let (stage, module) = try Self.connected()
                let transfer = Self.call {
                    for try await _ in module.downloadIMUSessionData(session: Self.session) {}
                }
                try await Self.listModule(stage, module)
                stage.answer(module.connectedTag.identifier, .motionDownload(MotionDownloadResponse(.transferring)))
                try Self.send([1] + packet, stage, module)
                await #expect(throws: error) { try await transfer.value }
            }
        }
    }

    @Test("streams samples until the connection ends")
    func stream() async throws {
        try await onLoop {
            let (stage, module) = try Self.connected()
            let address = module.connectedTag.identifier
            let started = Self.call { try await module.startIMUStreaming(samplingRate: .mid) }
            try await Self.listModule(stage, module)
            stage.answer(address, .motionStatus(MotionStatusResponse(.idle)))
            stage.answer(address)
            stage.answer(address, .motionStart(MotionStatusResponse(.logging)))
            // The mode, which the tag does not store.
            _ = stage.said()
            _ = try await stage.said(upTo: "> write 01")
            stage.answer(address, status: .unsupported)
            let samples = Reader(try await started.value)
            let sample = IMUSample(acceleration: [1, 2, 3], rotation: [4, 5, 6], ticks: 7)
            stage.central.report(
                .notified(address, JacquardGATT.uuid(.rawData), [0xC0, 0] + sample.encoded + sample.encoded))
            #expect(await samples.next(2) == [sample, sample])
            stage.lose(address)
            #expect(await samples.rest().isEmpty)
        }
    }

    @Test("is not active after it was unloaded")
    func unload() async throws {
        try await onLoop {
            let (stage, module) = try Self.connected()
            let isActive = Self.call {
                try await module.deactivateModule()
                return try await module.isActive()
            }
            try await Self.listModule(stage, module)
            for body in [nil, .modules(ListModuleResponse())] as [Response.Body?] {
                stage.answer(module.connectedTag.identifier, body)
            }
            _ = stage.said()
            try await Self.listModule(stage, module, isEnabled: false)
            #expect(try await isActive.value == false)
        }
    }

    @Test("reports a tag without the module")
    func missing() async throws {
        try await onLoop {
            let (stage, module) = try Self.connected()
            let initialized = Self.call { try await module.initialize() }
            _ = try await stage.said(upTo: "> write 01")
            stage.answer(module.connectedTag.identifier, .modules(ListModuleResponse()))
            await #expect(throws: TagCommandError.moduleMissing("IMUModule")) { try await initialized.value }
            await #expect(throws: TagCommandError.invalidParameter) {
                try await module.startRecording(
                    sessionID: "", campaignID: "a", groupID: "b", productID: "c", subjectID: "d")
            }
        }
    }

    @Test(
        "reads the mode that either SDK has stored",
        arguments: [
            (ConfigElement.Value.int32(2), DataCollectionMode.streaming), (.int32(1), .store),
            (.string("0"), .streaming),
            (.string("1"), .store), (.string("-1"), .none), (.bool(true), .none),
        ])
    func mode(value: ConfigElement.Value, mode: DataCollectionMode) async throws {
        try await onLoop {
            let (stage, module) = try Self.connected()
            let read = Self.call { try await module.getDataCollectionMode() }
            _ = try await stage.said(upTo: "> write 01")
            var response = ConfigGetResponse()
            response.element = ConfigElement(key: "current_dc_mode", value: value)
            stage.answer(module.connectedTag.identifier, .configGet(response))
            #expect(try await read.value == mode)
        }
    }

    @Test("the sample program records a session, whose file can be plotted")
    func sample() async throws {
        let folder = try ScratchFolder()
        let file = folder.path + "/motion.bin"
        try await onLoop {
            let simulator = try Program(
                Program.buildFolder + "/jacquard-simulator", ["--serials", "003R", "--json", "--quick"])
            try await until("the simulator is ready") { simulator.printed.contains("\nready\n") }
            let address = simulator.printed.split(separator: "\n")[0].dropFirst("DBUS_SYSTEM_BUS_ADDRESS=".count)
            let sample = try Program(
                Program.buildFolder + "/RecordingMotion", [file],
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": String(address)])
            try await until("the program's end") { sample.hasEnded }
            #expect(sample.exitStatus == 0 && sample.printed.contains("complete: true"), "\(sample.printed)")
            let plot = try Program(Program.buildFolder + "/jacquard2mqtt", ["imu", "parse", file, "--svg"])
            try await until("the plot") { plot.hasEnded }
            #expect(plot.printed.contains("<polyline") && plot.printed.contains("</svg>"))
            simulator.stop()
        }
    }
}
