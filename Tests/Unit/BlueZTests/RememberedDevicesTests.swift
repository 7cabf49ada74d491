import Bluetooth
import Testing
import Time

@testable import BlueZ

@Suite("Remembered devices")
struct RememberedDevicesTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    private func address(_ number: Int) throws -> BluetoothAddress {
        let digits = String(number + 10_000)
        return try #require(
            BluetoothAddress("F0:00:00:0\(digits.prefix(1)):\(digits.dropFirst().prefix(2)):\(digits.suffix(2))"))
    }

    @Test("that require a bond are at most 1,000")
    func bonds() throws {
        var requirements = BondRequirements()
        for number in 1...1_000 { requirements.note(try address(number), requiresBond: true) }
        requirements.note(try address(1_000), requiresBond: true)
        #expect(requirements.requiresBond(try address(1)))
        requirements.note(try address(1_001), requiresBond: true)
        #expect(!requirements.requiresBond(try address(1)))
        #expect(requirements.requiresBond(try address(1_001)))
    }

    @Test("with unanswered AcquireNotify calls are at most 1,000")
    func unansweredAcquisitions() throws {
        var unanswered = UnansweredAcquisitions()
        for number in 1...1_000 { unanswered.keep(["/b\(number)", "/a"], of: try address(number)) }
        unanswered.keep(["/c"], of: try address(1_000))
        unanswered.keep([], of: try address(1_001))
        #expect(unanswered.take(try address(1)) == ["/a", "/b1"])
        #expect(unanswered.take(try address(1)) == [])
        #expect(unanswered.take(try address(1_000)) == ["/c"])
        for number in 1_001...1_002 { unanswered.keep(["/a"], of: try address(number)) }
        #expect(unanswered.take(try address(2)) == ["/a", "/b2"])
        for number in 1_003...1_004 { unanswered.keep(["/a"], of: try address(number)) }
        #expect(unanswered.take(try address(3)) == [])
        #expect(unanswered.take(try address(1_004)) == ["/a"])
    }

    @Test("whose links were replaced are at most 1,000, and those of the last ten minutes stay while there is room")
    func replacements() throws {
        var foreignLinks = ForeignLinks()
        func use(_ number: Int, after time: Duration) throws -> ForeignLinks.Use {
            foreignLinks.use(of: try address(number), hasClient: false, at: start + time)
        }
        for number in 2...1_000 { #expect(try use(number, after: .zero) == .replace) }
        #expect(try use(1, after: .seconds(150)) == .replace)
        #expect(try use(1, after: .seconds(150)) == .replace)
        #expect(try use(1, after: .seconds(150)) == .adopt)
        // The others are older than ten minutes and make room.
        for number in 1_001...1_999 { #expect(try use(number, after: .seconds(700)) == .replace) }
        #expect(try use(1, after: .seconds(700)) == .adopt)
        #expect(try use(2_000, after: .seconds(700)) == .replace)
        #expect(try use(1, after: .seconds(700)) == .replace)
    }

    @Test("with a link that another client uses keep it, and it does not count as replaced")
    func usedLinks() throws {
        var foreignLinks = ForeignLinks()
        let device = try address(1)
        for _ in 1...3 { #expect(foreignLinks.use(of: device, hasClient: true, at: start) == .refuse) }
        #expect(foreignLinks.use(of: device, hasClient: false, at: start) == .replace)
        #expect(foreignLinks.use(of: device, hasClient: false, at: start) == .replace)
        #expect(foreignLinks.use(of: device, hasClient: true, at: start) == .refuse)
        #expect(foreignLinks.use(of: device, hasClient: false, at: start) == .adopt)
    }
}
