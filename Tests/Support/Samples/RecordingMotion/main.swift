import BlueZ
import Bluetooth
import EventLoop
import Glibc
import Jacquard
import JacquardProtocol
import Logging
import Tags
import Text
import Time

/// Records the motion of the first tag that is found for two seconds, and writes the session to a file:
///
///     RecordingMotion FILE
///     jacquard2mqtt imu parse FILE --svg > motion.svg
@LoopActor
func run(file: String) async throws {
    let bus = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
    let log = Logger("sample", to: StreamSink(level: .warning))
    let central = BlueZCentral(busAddress: bus ?? "unix:path=/var/run/dbus/system_bus_socket", log: log)
    let manager = JacquardManager(central: central, log: log)
    await central.start()
    for await state in manager.centralState where state == .poweredOn { break }
    try manager.startScanning()
    var states: AsyncStream<TagConnectionState>?
    for await tag in manager.advertisingTags {
        states = try manager.connect(tag)
        break
    }
    manager.stopScanning()
    guard let states else { return }
    for await state in states {
        guard case .connected(let tag) = state else { continue }
        try write(try await record(with: tag), to: file)
        try manager.disconnect(tag)
        break
    }
    await central.stop()
}

/// Records a session and returns its bytes.
@LoopActor
func record(with tag: ConnectedTag) async throws -> [UInt8] {
    let module = IMUModule(connectedTag: tag)
    try await module.initialize()
    try await module.startRecording(
        sessionID: "sample", campaignID: "samples", groupID: "1", productID: "any", subjectID: "me",
        samplingRate: .mid)
    try await Pause.seconds(2)
    try await module.stopRecording()
    guard let session = try await module.listSessions().last else { return [] }
    let bytes = try await receive(session, with: module)
    let parsed = try module.parseIMUSession(bytes)
    print("\(parsed.session.sampleCount) samples, complete: \(parsed.fullyParsed)")
    try await module.eraseSession(session)
    try await module.deactivateModule()
    return bytes
}

/// Transfers a session.
@LoopActor
func receive(_ session: IMUSessionInfo, with module: IMUModule) async throws -> [UInt8] {
    for try await state in module.downloadIMUSessionData(session: session) {
        switch state {
        case .downloading(let percent): print("Received \(percent) %")
        case .downloaded(let bytes): return bytes
        }
    }
    return []
}

/// A pause that leaves the loop free.
@LoopActor
enum Pause {
    static func seconds(_ seconds: Int64) async throws {
        let (stream, reader) = AsyncStream.makeStream(of: Void.self)
        let timer = LoopTimer { reader.finish() }
        timer.arm(at: .now + .seconds(seconds))
        for await _ in stream {}
        timer.disarm()
    }
}

func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = fopen(path, "w") else { throw FileError(path: path) }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw FileError(path: path) }
}

struct FileError: Error {
    let path: String
}

EventLoop.shared.begin {
    do {
        try await run(file: CommandLine.arguments.dropFirst().first ?? "motion.bin")
    } catch {
        print("Failed: \(error)")
        exit(1)
    }
    EventLoop.shared.stop()
}
EventLoop.shared.run()
