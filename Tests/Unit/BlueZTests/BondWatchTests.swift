import Testing

@testable import BlueZ

@Suite("Watch over a lost bond")
struct BondWatchTests {
    private let address = CentralBench.address(1)

    /// Whether each of these ends makes the bond count as lost.
    private func verdicts(_ ends: [(isPaired: Bool, lasted: Duration, wasResolved: Bool)]) -> [Bool] {
        var watch = BondWatch()
        return ends.map {
            watch.ended(address, isPaired: $0.isPaired, lasted: $0.lasted, wasResolved: $0.wasResolved)
        }
    }

    @Test("believes the third brief link in a row, and each further one")
    func three() {
        let brief = (isPaired: true, lasted: Duration.milliseconds(300), wasResolved: false)
        #expect(verdicts([brief, brief, brief, brief]) == [false, false, true, true])
    }

    @Test(
        "begins to count anew after a link that proves something else",
        arguments: [
            (false, Duration.milliseconds(300), false), (true, .seconds(2), false), (true, .milliseconds(300), true),
        ])
    func proof(isPaired: Bool, lasted: Duration, wasResolved: Bool) {
        let brief = (isPaired: true, lasted: Duration.milliseconds(300), wasResolved: false)
        #expect(
            verdicts([brief, brief, (isPaired, lasted, wasResolved), brief, brief, brief])
                == [false, false, false, false, false, true])
    }

    @Test("counts each device for itself, and none that is forgotten")
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
