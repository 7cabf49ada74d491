import Foundation
import TestSupport
import Testing

@Suite("The article \"Using Jacquard from Swift\"")
struct UsingJacquardTests {
    private static let project = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func text(of path: String) throws -> String {
        try String(contentsOf: project.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("lists parts of the programs as they are in the files")
    func listings() throws {
        let article = try Self.text(of: "Sources/Tag/Jacquard/Documentation.docc/UsingJacquard.md")
        let programs = try ["UsingJacquard", "RecordingMotion"].map { name in
            try Self.text(of: "Tests/Support/Samples/\(name)/main.swift")
        }
        let listings = article.components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        #expect(listings.count == 4)
        for listing in listings { #expect(programs.contains { $0.contains(listing) }, "\(listing)") }
    }

    @Test("refers to a program that connects a tag, reports a gesture, lights the LED and ends")
    func program() async throws {
        try await onLoop {
            let folder = Program.buildFolder
            let simulator = try Program(
                folder + "/jacquard-simulator", ["--serials", "003R", "--json", "--quick", "--gestures-every", "0.1"])
            try await until("the simulator is ready") { simulator.printed.contains("\nready\n") }
            let address = simulator.printed.split(separator: "\n")[0].dropFirst("DBUS_SYSTEM_BUS_ADDRESS=".count)
            let sample = try Program(
                folder + "/UsingJacquard", environment: ["DBUS_SYSTEM_BUS_ADDRESS": String(address)])
            try await until("the program's end") { sample.hasEnded }
            #expect(sample.exitStatus == 0)
            for line in ["Found Jacquard-003R, serial 003R", "Step 10 of 14", "Connected:", "Gesture: ", "as asked"] {
                #expect(sample.printed.contains(line), "\(sample.printed)")
            }
            let led = simulator.printed.split(separator: "\n").first { $0.contains("\"event\":\"led\"") }
            #expect(led?.contains("#00ff00") == true)
            simulator.stop()
        }
    }
}
