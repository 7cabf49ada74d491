import Foundation
import Testing

@testable import Bridge

@Suite("The load of a fleet on each bridge")
struct FleetLoadTests {
    @Test("beats, subscriptions and publications do not grow with the number of bridges", arguments: [10, 20, 40])
    func beats(count: Int) {
        let fleet = SimulatedFleet(bridges: count, tagsPerBridge: 1, watch: true)
        fleet.pass(.seconds(30))
        fleet.resetTraffic()
        fleet.pass(.seconds(60))
        #expect(fleet.subscriptions == 17)
        // Its own beats and those of eight others, every ten seconds.
        #expect(fleet.traffic.published == 6)
        #expect(fleet.traffic.received == 54)
        #expect(fleet.traffic.receivedBytes < 54 * 40)
    }

    @Test("without fleet.watch, bridges that have nothing to report exchange nothing", arguments: [10, 20])
    func idle(count: Int) {
        let fleet = SimulatedFleet(bridges: count, tagsPerBridge: 1, watch: false)
        fleet.pass(.seconds(30))
        fleet.resetTraffic()
        fleet.pass(.seconds(60))
        #expect(fleet.subscriptions == 8)
        #expect(fleet.traffic.received == 0)
        #expect(fleet.traffic.published == 0)
    }

    @Test("a bridge publishes the same for its tags in a fleet of any size", arguments: [false, true])
    func published(watch: Bool) {
        let published = [5, 10].map { count in
            let fleet = SimulatedFleet(bridges: count, tagsPerBridge: 2, watch: watch)
            fleet.pass(.seconds(30))
            fleet.resetTraffic()
            fleet.pass(.seconds(3_600), isUsed: true)
            return fleet.traffic.published
        }
        #expect(abs(published[0] - published[1]) <= 16, "\(published)")
    }

    /// Prints the table of the Fleet article. `Tests/Rigs/Fleet/load` sets the variable.
    @Test("has a table of figures", .enabled(if: ProcessInfo.processInfo.environment["FLEET_SIZES"] != nil))
    func table() {
        let sizes = ProcessInfo.processInfo.environment["FLEET_SIZES"]?.split(separator: ",").compactMap { Int($0) }
        let seconds = 60.0
        print(
            "| bridges | tags | watch | subscriptions | received/s | received B/s | published/s | published B/s | memory kB |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for count in sizes ?? [] {
            for watch in [false, true] {
                let fleet = SimulatedFleet(bridges: count, watch: watch)
                let start = fleet.traffic
                fleet.pass(.seconds(30))
                fleet.resetTraffic()
                fleet.pass(.seconds(Int(seconds)), isUsed: true)
                let (traffic, subscriptions) = (fleet.traffic, fleet.subscriptions)
                func rate(_ number: Int) -> String { String(format: "%.1f", Double(number) / seconds) }
                print(
                    "| \(count) | \(count * 20) | \(watch ? "on" : "off") | \(subscriptions) | \(rate(traffic.received)) "
                        + "| \(rate(traffic.receivedBytes)) | \(rate(traffic.published)) | \(rate(traffic.publishedBytes)) "
                        + "| \(fleet.removeBridges() / 1_000) | start: \(start.received) messages, "
                        + "\(start.receivedBytes / 1_000) kB |")
                fflush(nil)
            }
        }
    }
}
