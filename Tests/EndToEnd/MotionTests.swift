import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Motion data and raw data of a tag")
struct MotionTests {
    private static let tag = "jacquard/tag/0001"

    @Test("J36 and J37: raw data is published and written only if the configuration allows it")
    func rawData() async throws {
        try await inWorld(WorldPlan(settings: "raw: true")) { world in
            try await world.connected()
            try await world.succeeds(Self.tag + "/raw/set", #"{"views":["value"]}"#)
            try await world.succeeds(Self.tag + "/imu/set", #"{"action":"stream","seconds":60}"#)
            try await until("raw data") {
                world.observer.latest(Self.tag + "/raw")?.hasPrefix(#"{"bytes":"c000"#) == true
            }
            let refused = try await world.command(Self.tag + "/raw/set", #"{"send":"0741"}"#)
            #expect(World.code(of: refused) == "busy")
            try await world.succeeds(Self.tag + "/imu/set", "stop")
            try await world.succeeds(Self.tag + "/raw/set", #"{"send":"0741"}"#)
        }
    }

    @Test("J51, J53, J55: a session is recorded, and downloaded to a file over three lost links")
    func download() async throws {
        let folder = try ScratchFolder()
        try await inWorld(WorldPlan(settings: "imu:\n  folder: \(folder.path)/imu")) { world in
            try await world.connected()
            try await world.succeeds(Self.tag + "/imu/set", #"{"action":"record","session":"walk","gyroscope_hz":200}"#)
            try await world.succeeds(Self.tag + "/imu/set", "stop")
            try await world.simulate("session 0001 run-1 2000")
            let data = try await world.succeeds(Self.tag + "/imu/sessions/get")
            let sessions = data["sessions"] as? [[String: Any]]
            #expect(sessions?.map { $0["session"] as? String } == ["walk", "run-1"])
            try await world.simulate("motion-fault 0001 link-lost 9000 20000 31000")
            try await world.succeeds(Self.tag + "/imu/set", #"{"action":"download","session":"run-1"}"#)
            try await until("a file", within: .seconds(60)) {
                world.observer.document(Self.tag + "/imu")["file"] is String
            }
            let path = try #require(world.observer.document(Self.tag + "/imu")["file"] as? String)
            let file = try Data(contentsOf: URL(filePath: path))
            #expect(file.count == sessions?.last?["bytes"] as? Int)
            // 2,000 samples with their steps: no part is missing or twice in the file.
            let (status, printed) = try await world.run(
                Program.buildFolder + "/jacquard2mqtt", ["imu", "parse", path, "--json"])
            #expect(status == 0 && printed.contains(#""complete":true"#) && printed.contains(#""lost":0"#))
            #expect(FileManager.default.fileExists(atPath: String(path.dropLast(3)) + "json"))
        }
    }
}
