import Bluetooth
import DBus
import EventLoop
import FakeBlueZ
import Logging
import TestSupport
import Testing
import Time

@testable import BlueZ
@testable import Simulator

@Suite("A link that an earlier run has left")
struct FormerLinksTests {
    /// A second central on the bench's bus, which is the next run of the program.
    @LoopActor
    final class NextRun {
        let central: BlueZCentral
        private(set) var events: [CentralEvent] = []
        var values: [[UInt8]] { events.compactMap { if case .notified(_, _, let value) = $0 { value } else { nil } } }

        init(_ bench: CentralBench, links: [Int], choice: BlueZCentral.AdapterChoice = .automatic) {
            central = BlueZCentral(
                busAddress: bench.bus.address, adapter: choice, resetAdapter: false, timing: .quick,
                log: Logger("next", to: bench.sink))
            central.formerLinks = Set(links.map(CentralBench.address))
            central.onEvent = { [unowned self] in events.append($0) }
        }

        /// Starts, and requests devices as soon as Bluetooth is on.
        func start(connecting numbers: Int...) async throws {
            await central.start()
            try await until("Bluetooth is on") { self.events.contains(.stateChanged(.poweredOn)) }
            central.perform(.scan(CentralBench.service))
            for number in numbers { central.perform(.connect(CentralBench.address(number))) }
        }

        func wait(_ event: CentralEvent) async throws {
            try await until("\(event)") { self.events.contains(event) }
        }

        func subscribe(_ number: Int = 1) async throws {
            let address = CentralBench.address(number)
            central.perform(.discover(CentralBench.service, characteristics: [CentralBench.notify], of: address))
            try await until("the characteristics") {
                self.events.contains { if case .characteristicsDiscovered(address, _) = $0 { true } else { false } }
            }
            central.perform(.subscribe(CentralBench.notify, of: address))
            try await wait(.subscribed(address, CentralBench.notify))
        }
    }

    /// Leaves the bus without ending the link, like a killed process.
    @LoopActor
    private func kill(_ central: BlueZCentral) {
        central.onEvent = nil
        central.context.isStopped = true
        for peripheral in central.links.peripherals.values { peripheral.close() }
        central.context.connection.close()
    }

    @Test("is used as it is, although the descriptors of that run are still open, and values arrive once")
    func used() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            options.descriptorRelease = .milliseconds(300)
            options.unsubscription = .milliseconds(100)
            let bench = try await CentralBench(options)
            try await bench.subscribe()
            let link = try #require(bench.tags[0].link)
            bench.clear()
            kill(bench.central)
            let next = NextRun(bench, links: [1])
            try await next.start(connecting: 1)
            try await next.wait(.connected(CentralBench.address(1)))
            try await next.subscribe()
            #expect(bench.tags[0].link === link)
            try bench.notify(count: 3)
            try await until("the values") { next.values.count >= 3 }
            try await bench.settle()
            #expect(next.values == [[0], [1], [2]])
            #expect(!bench.calls.contains { $0.hasPrefix("Connect") || $0.hasPrefix("Disconnect") })
            await next.central.stop()
        }
    }

    @Test("is ended if its device is not to be connected")
    func unwanted() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            kill(bench.central)
            bench.clear()
            let next = NextRun(bench, links: [1])
            try await next.start()
            try await bench.waitForCall("Disconnect 1")
            try await until("the tag is free") { bench.tags[0].broadcast != nil }
            await next.central.stop()
        }
    }

    @Test(
        "is left alone while another client uses it, whether its device is to be connected or not",
        arguments: [false, true])
    func inUse(isWanted: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.subscribe()
            bench.clear()
            let next = NextRun(bench, links: [1])
            if isWanted {
                try await next.start(connecting: 1)
                try await until("a refusal") {
                    next.events.contains {
                        if case .disconnected(_, let error) = $0 { error?.code == .inUse } else { false }
                    }
                }
            } else {
                try await next.start()
                try await until("it is not looked at any more") { next.central.formerLinks == [] }
            }
            await next.central.stop()
            #expect(!bench.calls.contains("Disconnect 1"))
            #expect(bench.tags[0].link != nil)
        }
    }

    @Test("and has ended meanwhile does not delay the connection")
    func ended() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            let next = NextRun(bench, links: [1])
            try await next.start(connecting: 1)
            try await next.wait(.connected(CentralBench.address(1)))
            #expect(next.central.formerLinks == [])
            await next.central.stop()
        }
    }

    @Test(
        "through another adapter is ended, unless that one is another radio of the program", arguments: [false, true])
    func elsewhere(isRadio: Bool) async throws {
        try await onLoop {
            let bench = try await CentralBench(adapters: 2, choice: .named("hci0"))
            try await bench.subscribe()
            kill(bench.central)
            bench.clear()
            let next = NextRun(bench, links: [1], choice: .named("hci1"))
            if isRadio { next.central.otherRadios = [.named("hci0")] }
            try await next.start(connecting: 1)
            if isRadio {
                try await bench.settle()
                #expect(!bench.calls.contains("Disconnect 1"))
            } else {
                try await next.wait(.connected(CentralBench.address(1)))
            }
            await next.central.stop()
        }
    }

    @Test("remains if it cannot be ended in time, and is named then")
    func remaining() async throws {
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect(1)
            try await bench.connect(2)
            bench.blueZ.faults.unanswered = ["Disconnect"]
            await bench.central.stop(within: .milliseconds(100))
            #expect(bench.central.remainingLinks == [CentralBench.address(1), CentralBench.address(2)])
        }
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect(1)
            bench.blueZ.faults.refused["Disconnect"] = ("org.bluez.Error.Failed", "Operation failed")
            await bench.central.stop()
            #expect(bench.central.remainingLinks == [CentralBench.address(1)], "refused")
        }
        try await onLoop {
            let bench = try await CentralBench()
            try await bench.connect()
            await bench.central.stop()
            #expect(bench.central.remainingLinks == [])
        }
        try await onLoop {
            let bench = try await CentralBench(isStarted: false)
            bench.central.formerLinks = [CentralBench.address(1)]
            await bench.central.start()
            await bench.central.stop()
            #expect(bench.central.remainingLinks == [CentralBench.address(1)], "there was no adapter")
        }
    }
}

@Suite("A link of a stranger")
struct StrangersLinkTests {
    @Test("is replaced at the same time as others")
    func together() async throws {
        try await onLoop {
            var options = BlueZOptions.quick
            // Long enough for all calls.
            options.disconnectDelay = .seconds(1)
            let bench = try await CentralBench(options, tags: 3)
            let other = try await bench.otherConnection()
            bench.scan()
            try await until("the tags are heard") { bench.heard.count == 3 }
            for number in 1...3 {
                let path = try #require(bench.central.context.device(CentralBench.address(number))?.path)
                try await bench.connectElsewhere(other, path)
            }
            bench.clear()
            for number in 1...3 { bench.central.perform(.connect(CentralBench.address(number))) }
            for number in 1...3 { try await bench.waitForCall("Disconnect \(number)") }
            // None has ended before all were asked for.
            #expect(bench.tags.allSatisfy { $0.link != nil })
            for number in 1...3 { try await bench.wait("connected \(number)") }
        }
    }
}

@Suite("The list of links that an earlier run has left")
struct FormerLinkListTests {
    @Test("waits for the adapter: until then and shortly after, the earlier run may be a client")
    func times() {
        var links = FormerLinks([CentralBench.address(1)])
        let now = Instant(sinceBoot: .seconds(100))
        let (grace, patience) = (now + FormerLinks.grace, now + FormerLinks.patience)
        func steps(isWanted: Bool, isUsed: Bool) -> [FormerLinks.Step] {
            [now, grace - .nanoseconds(1), grace, patience - .nanoseconds(1), patience].map {
                links.step(isWanted: isWanted, isUsed: isUsed, at: $0)
            }
        }
        let waiting = [FormerLinks.Step](repeating: .wait, count: 5)
        #expect(steps(isWanted: false, isUsed: false) == waiting)
        #expect(steps(isWanted: true, isUsed: true) == waiting)
        links.begin(at: now)
        links.begin(at: now + .seconds(60))
        #expect(steps(isWanted: false, isUsed: false) == [.wait, .wait, .wait, .wait, .end])
        #expect(steps(isWanted: true, isUsed: false) == [.use, .use, .use, .use, .use])
        for isWanted in [false, true] {
            #expect(steps(isWanted: isWanted, isUsed: true) == [.wait, .wait, .leave, .leave, .leave])
        }
        #expect(links.stepElsewhere(isUsed: false, at: now) == .end)
        #expect(links.stepElsewhere(isUsed: true, at: now) == .wait)
        #expect(links.stepElsewhere(isUsed: true, at: grace) == .leave)
    }
}
