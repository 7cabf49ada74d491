import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Histograms of durations")
struct DurationHistogramTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    private func at(_ milliseconds: Double) -> Instant { start + .seconds(milliseconds / 1_000) }

    /// The lines of a family, without help and type.
    private func samples(_ scene: Scene, _ family: String, gestures: DurationHistogram = .gestures) -> [String] {
        let measurement = HealthMeasurement(
            residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0, gestureDurations: gestures)
        return scene.state.metrics(measurement, at: scene.now).split(separator: "\n")
            .filter { $0.hasPrefix(family + "_") }.map { String($0.dropFirst(family.utf8.count + 1)) }
    }

    @Test("count each duration in the first bucket that contains it, and in all larger ones")
    func buckets() {
        var histogram = DurationHistogram(microseconds: [1_000, 10_000])
        for milliseconds in [0, 0.5, 0.99, 1.01, 9.99, 10.01, 100_000] {
            histogram.observe(from: start, to: at(milliseconds))
        }
        #expect(histogram.buckets.map(\.limitMicroseconds) == [1_000, 10_000, nil])
        #expect(histogram.buckets.map(\.count) == [3, 5, 7])
        #expect(histogram.count == 7)
        #expect((100_022_490...100_022_500).contains(histogram.sumMicroseconds))
    }

    @Test("have the documented upper limits, in milliseconds")
    func documentedLimits() {
        let gestures: [Int64] = [500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000]
        let commands: [Int64] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000]
        let connects: [Int64] = [250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000]
        #expect(
            DurationHistogram.gestures.buckets.map(\.limitMicroseconds)
                == [250] + gestures + [1_000_000, 2_500_000, 5_000_000, nil])
        #expect(DurationHistogram.commands.buckets.map(\.limitMicroseconds) == commands.map { $0 * 1_000 } + [nil])
        #expect(DurationHistogram.connects.buckets.map(\.limitMicroseconds) == connects.map { $0 * 1_000 } + [nil])
    }

    @Test("count a time that goes back as zero")
    func backwards() {
        var histogram = DurationHistogram(microseconds: [1_000])
        histogram.observe(from: at(1), to: start)
        #expect(histogram.buckets.map(\.count) == [1, 1])
        #expect(histogram.sumMicroseconds == 0)
    }

    @Test("have limits that are different after their conversion, in ascending order")
    func limits() {
        for histogram in [DurationHistogram.gestures, .commands, .connects] {
            let limits = histogram.buckets.compactMap(\.limitMicroseconds)
            #expect(limits == Set(limits).sorted())
            for (place, limit) in limits.enumerated() {
                var copy = histogram
                copy.observe(from: start, to: start + .microseconds(limit - 3))
                copy.observe(from: start, to: start + .microseconds(limit + 3))
                #expect(copy.buckets[place].count == 1, "\(limit)")
                #expect(copy.buckets[place + 1].count == 2, "\(limit)")
            }
        }
    }

    @Test("have the times of gestures from their notification to the broker's acknowledgement")
    func gestures() throws {
        var outbox = Outbox()
        _ = outbox.connected(at: start)
        func gesture(_ sequence: UInt64) -> Publication {
            var publication = Publication(topic: "gesture", payload: [], kind: .event(lifetime: .seconds(5)))
            publication.gesture = GestureMark(tag: 1, name: 1, sequence: sequence)
            return publication
        }
        for (sequence, milliseconds) in [(1, 0.2), (2, 2), (3, 40), (4, 9_000)] as [(UInt64, Double)] {
            let arrival = GestureArrival(received: start, read: start)
            let ticket = try #require(outbox.submit(gesture(sequence), at: start, arrival: arrival).first?.ticket)
            _ = outbox.acknowledged(ticket, at: at(milliseconds))
        }
        // Not acknowledged: refused by the broker.
        let refused = try #require(outbox.submit(gesture(5), at: start).first?.ticket)
        _ = outbox.refused(refused, reason: 0x87, at: at(1))
        let lines = samples(Scene(), "jacquard_bridge_gesture_seconds", gestures: outbox.gestureDurations)
        #expect(lines.count == 17)
        #expect(lines.first == #"bucket{le="0.00025"} 1"#)
        #expect(lines.contains(#"bucket{le="0.001"} 1"#))
        #expect(lines.contains(#"bucket{le="0.0025"} 2"#))
        #expect(lines.contains(#"bucket{le="0.05"} 3"#))
        #expect(lines.contains(#"bucket{le="5.0"} 3"#))
        #expect(lines.contains(#"bucket{le="+Inf"} 4"#))
        #expect(lines.last == "count 4")
        let sum = try #require(lines.first { $0.hasPrefix("sum ") }.flatMap { Double($0.dropFirst(4)) })
        #expect(abs(sum - 9.0422) < 0.000_01)
    }

    @Test("count a gesture that is sent again after a lost connection once")
    func repeated() throws {
        var outbox = Outbox()
        _ = outbox.connected(at: start)
        var publication = Publication(topic: "gesture", payload: [], kind: .event(lifetime: .seconds(5)))
        publication.gesture = GestureMark(tag: 1, name: 1, sequence: 1)
        let arrival = GestureArrival(received: start, read: start)
        let first = try #require(outbox.submit(publication, at: start, arrival: arrival).first?.ticket)
        outbox.disconnected(at: at(100))
        let second = try #require(outbox.connected(at: at(300)).first?.ticket)
        _ = outbox.acknowledged(first, at: at(301))
        _ = outbox.acknowledged(second, at: at(302))
        #expect(outbox.gestureDurations.buckets.filter { $0.count == 1 }.first?.limitMicroseconds == 500_000)
        #expect(outbox.gestureDurations.count == 1)
    }

    @Test("have the times of commands to tags until their final result, by its status")
    func commands() {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", "flash")
        scene.wait(.milliseconds(40))
        scene.answer()
        scene.send("tag/003R/led/set", "flash")
        scene.wait(.milliseconds(700))
        scene.fail(.timeout)
        scene.send("tag/003R/led/set", "{")
        let lines = samples(scene, "jacquard_bridge_command_seconds")
        #expect(lines.contains(#"bucket{status="ok",le="0.025"} 0"#))
        #expect(lines.contains(#"bucket{status="ok",le="0.05"} 1"#))
        #expect(lines.contains(#"count{status="ok"} 1"#))
        #expect(lines.contains(#"sum{status="ok"} 0.039999"#) || lines.contains(#"sum{status="ok"} 0.04"#))
        #expect(lines.contains(#"bucket{status="error",le="0.005"} 1"#))
        #expect(lines.contains(#"bucket{status="error",le="1.0"} 2"#))
        #expect(lines.contains(#"count{status="error"} 2"#))
    }

    @Test("don't count requests to the bridge and commands that another bridge executes as commands to tags")
    func otherCommands() {
        let scene = Scene.connected()
        scene.send("bridge/attic/request/tags", "")
        scene.send("tag/9999/led/set", "flash")
        let lines = samples(scene, "jacquard_bridge_command_seconds")
        #expect(lines.contains(#"count{status="ok"} 0"#))
        // This bridge answers for unknown tags.
        #expect(lines.contains(#"count{status="error"} 1"#))
    }

    @Test("have the time until a tag is connected, with all attempts and the wait for the tag")
    func connects() {
        let scene = Scene()
        func report(_ state: TagConnection.State, attempt: Int, after wait: Duration) {
            scene.wait(wait)
            scene.report(.connection(TagConnection(state: state, attempt: attempt)))
        }
        report(.preparingToConnect, attempt: 1, after: .seconds(1))
        report(.connecting(step: 0), attempt: 1, after: .seconds(2))
        report(.preparingToConnect, attempt: 2, after: .seconds(1))
        report(.connecting(step: 0), attempt: 2, after: .seconds(1))
        report(.connected, attempt: 2, after: .seconds(1))
        var lines = samples(scene, "jacquard_bridge_connect_seconds")
        #expect(lines.contains(#"bucket{le="5.0"} 0"#))
        #expect(lines.contains(#"bucket{le="10.0"} 1"#))
        report(.preparingToConnect, attempt: 1, after: .seconds(60))
        report(.connecting(step: 0), attempt: 1, after: .milliseconds(100))
        report(.connected, attempt: 1, after: .milliseconds(100))
        // Once more the same state.
        report(.connected, attempt: 1, after: .milliseconds(100))
        lines = samples(scene, "jacquard_bridge_connect_seconds")
        #expect(lines.contains(#"bucket{le="0.25"} 1"#))
        #expect(lines.contains("count 2"))
    }

    @Test("don't count the time in which a tag is not to be connected")
    func disconnected() {
        let scene = Scene.connected()
        scene.send("tag/003R/connection/set", "disconnect")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1)))
        scene.wait(.seconds(3_000))
        scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
        scene.wait(.milliseconds(400))
        scene.connect()
        let lines = samples(scene, "jacquard_bridge_connect_seconds")
        // The first connection took no time.
        #expect(lines.contains(#"bucket{le="0.25"} 1"#))
        #expect(lines.contains(#"bucket{le="0.5"} 2"#))
    }
}
