import Testing

@testable import BlueZ

@Suite("Discovery")
struct DiscoveryStateTests {
    private let service = CentralBench.service

    @Test("starts the requested discovery, one call at a time, and stops any other")
    func steps() {
        var discovery = Discovery()
        #expect(discovery.step(isPaused: false) == nil)
        discovery.requested = service
        #expect(discovery.step(isPaused: false) == .start(service))
        #expect(discovery.step(isPaused: true) == nil)
        discovery.begin()
        #expect(discovery.step(isPaused: false) == nil)
        discovery.started(service)
        #expect(discovery.step(isPaused: false) == nil)
        #expect(discovery.step(isPaused: true) == .stop)
        discovery.requested = nil
        #expect(discovery.step(isPaused: false) == .stop)
    }

    @Test("starts again after a loss, although a restart was requested before")
    func lost() {
        var discovery = Discovery()
        discovery.requested = service
        discovery.started(service)
        discovery.restart()
        discovery.reset()
        #expect(discovery.step(isPaused: false) == .start(service))
    }

    @Test("detects that it has ended, also when the adapter reports its start late", arguments: [true, false])
    func silentEnd(isLate: Bool) {
        var discovery = Discovery()
        discovery.requested = service
        if !isLate { #expect(discovery.report(true) == false) }
        discovery.started(service)
        if isLate {
            #expect(discovery.report(false) == false)
            #expect(discovery.report(true) == false)
        }
        #expect(discovery.report(false) == true)
        #expect(discovery.step(isPaused: false) == .start(service))
    }

    @Test("reports neither pauses nor restarts")
    func news() {
        var discovery = Discovery()
        discovery.requested = service
        #expect(discovery.scanningChange(isPaused: false) == nil)
        discovery.started(service)
        #expect(discovery.scanningChange(isPaused: false) == true)
        discovery.stopped()
        #expect(discovery.scanningChange(isPaused: true) == nil)
        discovery.begin()
        #expect(discovery.scanningChange(isPaused: false) == nil)
        discovery.refused()
        #expect(discovery.scanningChange(isPaused: false) == false)
    }
}
