import BrokerAccess
import FoundationEssentials
import Terminal
import TestSupport

extension TemporaryFolder {
    /// Makes a folder of small files, as the kernel shows an object.
    func make(_ entry: String, _ files: [String: String]) throws {
        try FileManager.default.createDirectory(atPath: path(entry), withIntermediateDirectories: false)
        for (name, text) in files { try write(text + "\n", to: "\(entry)/\(name)") }
    }
}
