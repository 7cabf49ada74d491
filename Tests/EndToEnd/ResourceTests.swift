import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("The process")
struct ResourceTests {
    @Test("uses monotonic clocks for waits: a change of the time of day ends none")
    func clocks() async throws {
        try await inWorld(tags: 3) { world in
            try await world.connected(1...3)
            let clocks = try Self.timerClocks(of: world.daemon.identifier)
            #expect(!clocks.isEmpty)
            // CLOCK_MONOTONIC and CLOCK_BOOTTIME.
            #expect(clocks.isSubset(of: [1, 7]), "\(clocks)")
        }
    }

    @Test("has as many descriptors after twenty links as after two")
    func descriptors() async throws {
        try await inWorld { world in
            var counts: [Int] = []
            for round in 1...20 {
                try await world.connected()
                counts.append(try Self.descriptors(of: world.daemon.identifier).count)
                let misses = world.misses
                try await world.simulate("crash-bluez 0")
                try await until("the tag is cut off") { world.told("disconnected").count == round }
                // It may be back before anybody looks.
                try await until("it is missed") { world.misses > misses }
                try await until("it is back") { world.isConnected("0001") }
            }
            #expect(counts[19] <= counts[1], "\(counts)")
        }
    }

    @Test("with too few descriptors logs it, reserves the last ones for bus and broker, and uses signals for tags")
    func fewDescriptors() async throws {
        // What the test's own process has open without need would count as well.
        let script = """
            for file in /proc/self/fd/*; do number=${file##*/}; [ $number -le 2 ] || eval "exec $number>&-"; done
            ulimit -n 24; exec "$0" "$@"
            """
        try await inWorld(WorldPlan(tags: 8, runner: ["/bin/bash", "-c", script])) { world in
            try await world.recovers(from: "24 descriptors for 8 tags, from the start") {
                (1...8).allSatisfy { world.isConnected(World.serial($0)) }
            }
            try await world.logs("24 open files are allowed, and 8 tags need 57")
            // On a busy machine a tag may need a second attempt, but not for want of a bus.
            let attempts = world.told("disconnected").count
            for number in 1...8 { try await world.isOfUse(World.serial(number)) }
            try await world.stopBroker()
            try await world.startBroker()
            try await world.isOfUse("0008")
            #expect(world.told("disconnected").count == attempts)
            #expect(!world.daemon.printed.contains("the system bus has gone"))
        }
    }

    @Test(
        "on a read-only file system logs it once, and works without storing its state",
        .enabled("not everybody may have a view of the file system of his own") {
            let trial = try Program("/usr/bin/unshare", ["--mount", "/bin/true"])
            trial.waitForExit()
            return trial.exitStatus == 0
        })
    func readOnly() async throws {
        let mount =
            #"mount --bind "$STATE_DIRECTORY" "$STATE_DIRECTORY" && mount -o remount,ro,bind "$STATE_DIRECTORY""#
        let runner = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", mount + #" && exec "$0" "$@""#]
        try await inWorld(WorldPlan(runner: runner)) { world in
            try await world.connected()
            try await world.succeeds("jacquard/tag/0001/connection/set", "disconnect")
            try await until("the complaint") { world.daemon.printed.contains("Read-only file system") }
            try await world.succeeds("jacquard/tag/0001/connection/set", "connect")
            try await world.recovers(from: "read-only file system") { world.isConnected("0001") }
            try await world.isOfUse()
            let complaints = world.daemon.printed.split(separator: "\n").filter { $0.contains("Read-only file system") }
            let expected = [
                "cannot lock the state folder", "cannot remember the name of this bridge", "cannot save the known tags",
            ]
            #expect(complaints.count == expected.count, "\(complaints)")
            #expect(zip(complaints, expected).allSatisfy { $0.contains($1) }, "\(complaints)")
        }
    }

    /// The clocks of all timers of a process, by their numbers in `clock_gettime(2)`.
    private static func timerClocks(of process: Int32) throws -> Set<Int> {
        let files = try descriptors(of: process).filter { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(number)"))
                == "anon_inode:[timerfd]"
        }
        let lines = files.flatMap { number in
            ((try? String(contentsOfFile: "/proc/\(process)/fdinfo/\(number)", encoding: .utf8)) ?? "")
                .split(separator: "\n")
        }
        return Set(lines.filter { $0.hasPrefix("clockid:") }.compactMap { Int($0.dropFirst(8).drop { $0 == " " }) })
    }

    private static func descriptors(of process: Int32) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    }
}
