import Bluetooth
import Bridge
import Foundation
import TestSupport
import Testing

@testable import Doctor

@Suite("The table of causes in the article Faults")
struct CauseTableTests {
    private static let faults: [AdapterFault] = [
        .busUnreachable("x"), .serviceStopped, .notPermitted, .noAdapter,
        .otherAdaptersOnly(wanted: "hci0", present: ["hci1"]), .poweredOff("hci0"), .discoveryRefused("x"),
    ]

    /// The cells of a row, without the marks of code.
    private static func rows() throws -> [[String]] {
        let article = URL(filePath: #filePath).appending(
            path: "../../../../Sources/Programs/Daemon/Documentation.docc/Faults.md")
        return try String(contentsOf: article.standardized, encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix("| ")
        }.map { row in
            row.split(separator: "|").map {
                $0.replacingOccurrences(of: "`", with: "").trimmingCharacters(in: .whitespaces)
            }
        }
    }

    @Test("has a row for each fault of Bluetooth: text, problem, check and first advice", arguments: faults)
    func bluetooth(fault: AdapterFault) throws {
        let cause = Cause(fault)
        let row = try #require(
            try Self.rows().first { cause.text.hasPrefix($0[0]) && $0.count == 4 }, "\(cause.text)")
        #expect(row == [row[0], cause.code.rawValue, cause.check.rawValue, cause.hint])
    }
}
