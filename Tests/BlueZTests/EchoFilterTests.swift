import Testing

@testable import BlueZ

@Suite("Echo filter")
struct EchoFilterTests {
    private let start = ContinuousClock.now

    @Test("leaves out the copies of a value, and nothing else")
    func copies() {
        var filter = EchoFilter()
        #expect(filter.admits([1], at: start))
        #expect(!filter.admits([1], at: start))
        #expect(!filter.admits([1], at: start + .milliseconds(1)))
        #expect(filter.admits([2], at: start + .milliseconds(1)))
        #expect(filter.admits([1], at: start + .milliseconds(2)))
    }

    @Test("admits an equal value that a device can have sent anew")
    func anew() {
        var filter = EchoFilter()
        #expect(filter.admits([1], at: start))
        #expect(filter.admits([1], at: start + .milliseconds(7)))
    }
}
