import Bridge
import Configuration
import EventLoop
import Foundation
import JacquardProtocol
import TestSupport
import Testing

@testable import Daemon

@Suite("Files of recorded sessions")
struct MotionFilesTests {
    private static let session = StoredMotionSession(
        id: MotionSessionID(session: "../../etc/passwd"), byteCount: 6, crc: CRC16.of([1, 2, 3, 4, 5, 6]))
    private static let most = 1 << 20

    @Test("J55: are continued where they end, and get their name when they are complete")
    func life() throws {
        let scratch = try ScratchFolder()
        let path = MotionFilePath(folder: scratch.path + "/imu", tag: "003R")
        #expect(
            try path.perform(.open(Self.session), most: Self.most, at: 0) == .opened(byteCount: 0, checksum: CRC16()))
        #expect(try path.perform(.append([1, 2, 3], Self.session), most: Self.most, at: 0) == .written(3))
        #expect(
            try path.perform(.open(Self.session), most: Self.most, at: 0)
                == .opened(byteCount: 3, checksum: checksum([1, 2, 3])))
        _ = try path.perform(.append([4, 5, 6], Self.session), most: Self.most, at: 0)
        let file = scratch.path + "/imu/003R/1795169702-\(String(Self.session.crc, radix: 16)).bin"
        #expect(try path.perform(.finish(Self.session), most: Self.most, at: 1_795_169_702_114) == .finished(file))
        #expect(try Data(contentsOf: URL(filePath: file)) == Data([1, 2, 3, 4, 5, 6]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/imu/003R").count == 2)
        let description = try String(contentsOfFile: file.dropLast(3) + "json", encoding: .utf8)
        #expect(description.contains(#""crc":"\#(String(Self.session.crc, radix: 16))""#), "\(description)")
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
        let path = MotionFilePath(folder: scratch.path + "/imu", tag: "003R")
        let folder = scratch.path + "/imu/003R"
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder) }
        _ = try path.perform(.open(Self.session), most: Self.most, at: 0)
        for bytes: [UInt8] in [[1, 2, 3], [4, 5, 7]] {
            _ = try path.perform(.append(bytes, Self.session), most: Self.most, at: 0)
        }
        guard case .failed(let reason) = try path.perform(.finish(Self.session), most: Self.most, at: 0) else {
            Issue.record("it was taken")
            return
        }
        #expect(reason.hasSuffix("differs from the session of the tag, and was deleted"))
        #expect(try files().isEmpty)
        _ = try path.perform(.open(Self.session), most: Self.most, at: 0)
        #expect(try files().count == 1)
        #expect(try path.perform(.discard(Self.session), most: Self.most, at: 0) == nil)
        #expect(try files().isEmpty)
        // Somebody has deleted it, or imu.folder has changed.
        #expect(throws: FileError.self) { try path.perform(.append([4, 5, 6], Self.session), most: Self.most, at: 0) }
        #expect(try files().isEmpty)
    }

    @Test("names of tags and sessions, which come by radio, are no paths", arguments: ["..", "a b", "\u{e4}"])
    func names(tag: String) throws {
        let scratch = try ScratchFolder()
        let path = MotionFilePath(folder: scratch.path + "/imu", tag: tag)
        _ = try path.perform(.open(Self.session), most: Self.most, at: 0)
        _ = try path.perform(.append([1], Self.session), most: Self.most, at: 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["imu"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/imu").allSatisfy {
                $0.hasPrefix("%") || $0 == "a%20b"
            })
    }

    @Test("more than the limit is refused")
    func most() throws {
        let scratch = try ScratchFolder()
        let path = MotionFilePath(folder: scratch.path + "/imu", tag: "003R")
        guard case .failed(let reason) = try path.perform(.open(Self.session), most: 5, at: 0) else {
            Issue.record("it was allowed")
            return
        }
        #expect(reason.hasSuffix("imu.most_mb does not allow the session"))
        let opened = MotionFileEvent.opened(byteCount: 0, checksum: CRC16())
        #expect(try path.perform(.open(Self.session), most: 6, at: 0) == opened)
        // With the files of all tags.
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/imu/0001", withIntermediateDirectories: false)
        _ = try scratch.write("imu/0001/1-2.bin", "1234567890")
        #expect(try path.perform(.open(Self.session), most: 15, at: 0) != opened)
        #expect(try path.perform(.open(Self.session), most: 16, at: 0) == opened)
    }

    private func checksum(_ bytes: [UInt8]) -> CRC16 {
        var checksum = CRC16()
        checksum.add(bytes)
        return checksum
    }

    @Test("are limited by imu.most_mb, and need imu.folder", arguments: [(0, false), (1, true)])
    func options(surplus: UInt32, isRefused: Bool) async throws {
        let scratch = try ScratchFolder()
        let session = StoredMotionSession(id: MotionSessionID(session: "walk"), byteCount: (1 << 20) + surplus, crc: 0)
        var options = MotionOptions()
        options.most = 1
        func event() async throws -> MotionFileEvent {
            try await onLoop { [options] in
                await withCheckedContinuation { continuation in
                    MotionFiles().perform(.open(session), of: "003R", options) { continuation.resume(returning: $0) }
                }
            }
        }
        #expect(try await event() == .failed("imu.folder is no longer set"))
        options.folder = scratch.path + "/imu"
        #expect((try await event() != .opened(byteCount: 0, checksum: CRC16())) == isRefused)
        let bytes = [UInt8](repeating: 7, count: 100_000)
        let path = MotionFilePath(folder: scratch.path + "/imu", tag: "003R")
        _ = try path.perform(.append(bytes, session), most: 1 << 20, at: 0)
        #expect((try await event() != .opened(byteCount: bytes.count, checksum: checksum(bytes))) == isRefused)
    }

    @Test("a link in place of the file is not followed")
    func link() throws {
        let scratch = try ScratchFolder()
        let path = MotionFilePath(folder: scratch.path + "/imu", tag: "003R")
        _ = try path.perform(.open(Self.session), most: Self.most, at: 0)
        _ = try path.perform(.append([1], Self.session), most: Self.most, at: 0)
        let folder = scratch.path + "/imu/003R"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let target = try scratch.write("target", "x")
        try FileManager.default.removeItem(atPath: folder + "/" + name)
        try FileManager.default.createSymbolicLink(atPath: folder + "/" + name, withDestinationPath: target)
        #expect(throws: FileError.self) { try path.perform(.open(Self.session), most: Self.most, at: 0) }
        #expect(throws: FileError.self) { try path.perform(.append([1], Self.session), most: Self.most, at: 0) }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "x")
    }
}
