import Foundation
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("A published code")
struct PublishedCodesTests {
    /// Nothing but a defect of the bridge produces it.
    private static let defects: Set<String> = [CommandFailure.Code.internalDefect.rawValue]

    private static let words: [String] =
        Problem.Code.allCases.map(\.rawValue) + CommandFailure.Code.allCases.map(\.rawValue)
        + TagConnectionError.Code.allCases.map(\.word) + BridgeEventKind.allCases.map(\.rawValue)

    @Test("comes out of the daemon in an end-to-end test")
    func tested() throws {
        let folder = URL(filePath: "../../EndToEnd", relativeTo: URL(filePath: #filePath))
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let tests = try files.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let missing = Set(Self.words).subtracting(Self.defects).filter { !tests.contains("\"\($0)\"") }
        #expect(missing.isEmpty)
    }
}
