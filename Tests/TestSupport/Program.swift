import Foundation
import Synchronization

/// A program that a test started: its output line by line, and its end.
public final class Program: Sendable {
    private let process: Process
    private let input: Pipe
    private let output: Mutex<(text: String, isClosed: Bool)> = Mutex(("", false))

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: an absolute path, or a name to be found in `PATH` and the folders of system programs.
    ///   - arguments: without the program's name.
    ///   - environment: added to this process's own.
    /// - Throws: when the program cannot be started.
    public init(_ path: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws {
        let process = Process()
        let pipe = Pipe()
        input = Pipe()
        process.executableURL = URL(fileURLWithPath: Self.find(path))
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = pipe
        process.standardError = pipe
        self.process = process
        pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            self?.output.withLock {
                if data.isEmpty { $0.isClosed = true } else { $0.text += String(decoding: data, as: UTF8.self) }
            }
            if data.isEmpty { handle.readabilityHandler = nil }
        }
        try process.run()
    }

    /// The folder in which this build put its programs.
    public static var buildFolder: String {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "."
        return URL(fileURLWithPath: executable).deletingLastPathComponent().path
    }

    /// Everything it has printed so far, standard error included.
    public var printed: String { output.withLock { $0.text } }

    /// Process id.
    public var identifier: Int32 { process.processIdentifier }

    /// Whether it still runs.
    public var isRunning: Bool { process.isRunning }

    /// Exit status, once it has ended.
    public var exitStatus: Int32? { process.isRunning ? nil : process.terminationStatus }

    /// Types a line on its standard input.
    public func type(_ line: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Sends it a signal.
    public func signal(_ number: Int32) {
        kill(process.processIdentifier, number)
    }

    /// Ends it and waits for its end.
    public func stop() {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// Waits for its end, however it comes.
    public func waitForExit() {
        process.waitUntilExit()
    }

    private static func find(_ name: String) -> String {
        guard !name.contains("/") else { return name }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin", "/usr/bin"]
        return folders.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) } ?? name
    }
}
