import Bridge
import Configuration
import EventLoop
import Foundation
import JSON
import JacquardProtocol
import TestSupport
import Testing

@testable import Daemon

@Suite("Files of features")
struct FeatureFilesTests {
    private static let bytes: [UInt8] = [1, 2, 3, 4, 5, 6]

    private static func file(_ folder: String, byteCount: Int = bytes.count, mebibytes: Int = 1) -> FeatureFile {
        let crc = CRC16.of(bytes)
        return FeatureFile(
            noun: "session", folder: folder, limit: FeatureFile.Limit(mebibytes: mebibytes, key: "imu.most_mb"),
            name: "beef-6", byteCount: byteCount, crc: crc,
            description: ["session": "../../etc/passwd", "crc": .string(String(crc, radix: 16))])
    }

    @Test("J55: are continued where they end, and get their name when they are complete")
    func life() throws {
        let scratch = try ScratchFolder()
        let path = FeatureFilePath(Self.file(scratch.path + "/imu"), tag: "003R")
        #expect(
            try path.perform(.open, at: 0) == .opened(byteCount: 0, checksum: CRC16()))
        #expect(try path.perform(.append([1, 2, 3]), at: 0) == .written(3))
        #expect(
            try path.perform(.open, at: 0)
                == .opened(byteCount: 3, checksum: checksum([1, 2, 3])))
        _ = try path.perform(.append([4, 5, 6]), at: 0)
        let file = scratch.path + "/imu/003R/1795169702-\(String(CRC16.of(Self.bytes), radix: 16)).bin"
        #expect(try path.perform(.finish, at: 1_795_169_702_114) == .finished(file))
        #expect(try Data(contentsOf: URL(filePath: file)) == Data([1, 2, 3, 4, 5, 6]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/imu/003R").count == 2)
        let description = try String(contentsOfFile: file.dropLast(3) + "json", encoding: .utf8)
        #expect(description.contains(#""crc":"\#(String(CRC16.of(Self.bytes), radix: 16))""#), "\(description)")
        #expect(description.hasSuffix("}\n"))
        // The mask of the process may take some permissions of the group away.
        for (path, mode) in [(scratch.path + "/imu", 0o700), (file, 0o600), (file.dropLast(3) + "json", 0o600)] {
            let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0
            #expect(found & 0o707 == mode, "\(path)")
        }
    }

    @Test("are complete only with the bytes of the session: others are deleted, and a lost beginning is noticed")
    func incomplete() throws {
        let scratch = try ScratchFolder()
        let path = FeatureFilePath(Self.file(scratch.path + "/imu"), tag: "003R")
        let folder = scratch.path + "/imu/003R"
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder) }
        _ = try path.perform(.open, at: 0)
        for bytes: [UInt8] in [[1, 2, 3], [4, 5, 7]] {
            _ = try path.perform(.append(bytes), at: 0)
        }
        guard case .failed(let reason) = try path.perform(.finish, at: 0) else {
            Issue.record("it was taken")
            return
        }
        #expect(reason.hasSuffix("differs from the session of the tag, and was deleted"))
        #expect(try files().isEmpty)
        _ = try path.perform(.open, at: 0)
        #expect(try files().count == 1)
        #expect(try path.perform(.discard, at: 0) == nil)
        #expect(try files().isEmpty)
        // Somebody has deleted it, or imu.folder has changed.
        #expect(throws: FileError.self) { try path.perform(.append([4, 5, 6]), at: 0) }
        #expect(try files().isEmpty)
    }

    @Test("names of tags and sessions, which come by radio, are no paths", arguments: ["..", "a b", "\u{e4}"])
    func names(tag: String) throws {
        let scratch = try ScratchFolder()
        let path = FeatureFilePath(Self.file(scratch.path + "/imu"), tag: tag)
        _ = try path.perform(.open, at: 0)
        _ = try path.perform(.append([1]), at: 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["imu"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/imu").allSatisfy {
                $0.hasPrefix("%") || $0 == "a%20b"
            })
    }

    @Test("more than the limit is refused, with the files of all tags")
    func most() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path + "/imu"
        func open(_ byteCount: Int) throws -> FeatureFileEvent? {
            try FeatureFilePath(Self.file(folder, byteCount: byteCount), tag: "003R").perform(.open, at: 0)
        }
        let opened = FeatureFileEvent.opened(byteCount: 0, checksum: CRC16())
        guard case .failed(let reason) = try open((1 << 20) + 1) else {
            Issue.record("it was allowed")
            return
        }
        #expect(reason.hasSuffix("imu.most_mb does not allow the session"))
        #expect(try open(1 << 20) == opened)
        try FileManager.default.createDirectory(atPath: folder + "/0001", withIntermediateDirectories: false)
        _ = try scratch.write("imu/0001/1-2.bin", "1234567890")
        #expect(try open((1 << 20) - 9) != opened)
        #expect(try open((1 << 20) - 10) == opened)
    }

    private func checksum(_ bytes: [UInt8]) -> CRC16 {
        var checksum = CRC16()
        checksum.add(bytes)
        return checksum
    }

    @Test("what exists counts once; the results arrive on the loop", arguments: [(0, false), (1, true)])
    func results(surplus: Int, isRefused: Bool) async throws {
        let scratch = try ScratchFolder()
        let file = Self.file(scratch.path + "/imu", byteCount: (1 << 20) + surplus)
        func event() async throws -> FeatureFileEvent {
            try await onLoop {
                await withCheckedContinuation { continuation in
                    FeatureFiles().perform(.open, on: file, of: "003R") { continuation.resume(returning: $0) }
                }
            }
        }
        #expect((try await event() != .opened(byteCount: 0, checksum: CRC16())) == isRefused)
        let bytes = [UInt8](repeating: 7, count: 100_000)
        _ = try FeatureFilePath(file, tag: "003R").perform(.append(bytes), at: 0)
        #expect((try await event() != .opened(byteCount: bytes.count, checksum: checksum(bytes))) == isRefused)
    }

    @Test("a link in place of the file is not followed")
    func link() throws {
        let scratch = try ScratchFolder()
        let path = FeatureFilePath(Self.file(scratch.path + "/imu"), tag: "003R")
        _ = try path.perform(.open, at: 0)
        _ = try path.perform(.append([1]), at: 0)
        let folder = scratch.path + "/imu/003R"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let target = try scratch.write("target", "x")
        try FileManager.default.removeItem(atPath: folder + "/" + name)
        try FileManager.default.createSymbolicLink(atPath: folder + "/" + name, withDestinationPath: target)
        #expect(throws: FileError.self) { try path.perform(.open, at: 0) }
        #expect(throws: FileError.self) { try path.perform(.append([1]), at: 0) }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "x")
    }
}
