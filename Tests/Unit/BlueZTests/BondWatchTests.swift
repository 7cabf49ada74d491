import Testing

@testable import BlueZ

@Suite("Detection of a lost bond")
struct BondWatchTests {
    private let address = CentralBench.address(1)

    /// Whether each of these ends makes the bond count as lost.
    private func verdicts(_ ends: [(isPaired: Bool, lasted: Duration, wasResolved: Bool)]) -> [Bool] {
        var watch = BondWatch()
        return ends.map {
            watch.ended(address, isPaired: $0.isPaired, lasted: $0.lasted, wasResolved: $0.wasResolved)
        }
    }

    @Test("reports a lost bond at the third brief link in a row, and at each further one")
    func three() {
        let brief = (isPaired: true, lasted: Duration.milliseconds(300), wasResolved: false)
        #expect(verdicts([brief, brief, brief, brief]) == [false, false, true, true])
    }

    @Test(
        "restarts the count after a link that shows another cause",
        arguments: [
            (false, Duration.milliseconds(300), false), (true, .seconds(2), false), (true, .milliseconds(300), true),
        ])
    func proof(isPaired: Bool, lasted: Duration, wasResolved: Bool) {
        let brief = (isPaired: true, lasted: Duration.milliseconds(300), wasResolved: false)
        #expect(
            verdicts([brief, brief, (isPaired, lasted, wasResolved), brief, brief, brief])
                == [false, false, false, false, false, true])
    }

    @Test("counts separately for each device, and resets the count of a forgotten one")
    func apart() {
        var watch = BondWatch()
        for number in [1, 1, 2] {
            let address = CentralBench.address(number)
            #expect(watch.ended(address, isPaired: true, lasted: .zero, wasResolved: false) == false)
        }
        watch.clear(address)
        #expect(watch.ended(address, isPaired: true, lasted: .zero, wasResolved: false) == false)
    }
}
