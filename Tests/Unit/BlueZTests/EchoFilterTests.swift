import Testing
import Time

@testable import BlueZ

@Suite("Echo filter")
struct EchoFilterTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    private func require(_ isAdmitted: Bool, _ location: SourceLocation = #_sourceLocation) {
        #expect(isAdmitted, sourceLocation: location)
    }

    @Test("drops the copies of a value, and nothing else")
    func copies() {
        var filter = EchoFilter()
        require(filter.admits([1], at: start))
        let copies = [filter.admits([1], at: start), filter.admits([1], at: start + .milliseconds(1))]
        #expect(copies == [false, false])
        require(filter.admits([2], at: start + .milliseconds(1)))
        require(filter.admits([1], at: start + .milliseconds(2)))
    }

    @Test("accepts an equal value as soon as a device can have sent it again")
    func repeated() {
        var filter = EchoFilter()
        require(filter.admits([1], at: start))
        let copy = filter.admits([1], at: start + .milliseconds(49))
        #expect(!copy)
        require(filter.admits([1], at: start + .milliseconds(50)))
    }
}
