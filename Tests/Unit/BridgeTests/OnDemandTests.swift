import JacquardProtocol
import Testing

@testable import Bridge

@Suite("A tag that is connected on demand")
struct OnDemandTests {
    private let led = "tag/003R/led/set"
    private let availability = "jacquard/tag/003R/availability "

    private func scene() -> Scene {
        let scene = Scene(tags: [TagEntry(id: .tag003R, serial: "003R", connect: .onDemand)])
        scene.powerOn()
        return scene
    }

    @Test("is connected by a command, and disconnected 30 s after the last one")
    func life() {
        let scene = scene()
        scene.send(led, "on")
        #expect(scene.takeActions() == [.connect(.tag003R)])
        scene.connect()
        scene.answer()
        scene.wait(.seconds(20))
        scene.send(led, "off")
        scene.answer()
        scene.wait(.milliseconds(29_999))
        #expect(scene.takeActions() == [])
        scene.wait(.milliseconds(1))
        #expect(scene.takeActions() == [.disconnect(.tag003R)])
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1)))
        scene.send(led, "on")
        #expect(scene.takeActions() == [.connect(.tag003R)])
    }

    @Test("stays connected while a command has no response")
    func busy() {
        let scene = scene()
        scene.send(led, "on")
        scene.connect()
        scene.wait(.seconds(100))
        #expect(scene.takeActions() == [.connect(.tag003R)])
    }

    @Test("is not searched for 30 s after the command has expired")
    func away() {
        let scene = scene()
        scene.send(led, "on")
        scene.wait(.seconds(40))
        #expect(scene.lastError?.code == "expired")
        #expect(scene.takeActions() == [.connect(.tag003R), .disconnect(.tag003R)])
    }

    @Test("is available while a command would reach it: not after a failure, and not without Bluetooth")
    func whenAvailable() {
        let scene = scene()
        #expect(scene.handle(.started).contains(availability + "online"))
        let timeout = TagConnectionError(.connectionTimeout, "No link")
        #expect(
            scene.report(.connection(TagConnection(state: .connecting(step: 0), attempt: 1))).first
                == availability + "online")
        #expect(
            scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 2, error: timeout))).first
                == availability + "offline")
        #expect(
            scene.report(.connection(TagConnection(state: .disconnected, attempt: 2))).first == availability + "offline"
        )
        scene.connect()
        #expect(
            scene.report(.connection(TagConnection(state: .disconnected, attempt: 1))).first == availability + "online")
        #expect(scene.handle(.bluetooth(.poweredOff)) == [availability + "offline"])
        #expect(scene.powerOn() == [availability + "online"])
        scene.send("tag/003R/connection/set", "disconnect")
        #expect(scene.publications.contains { $0.line == availability + "offline" })
    }

    @Test("is not available after a command has expired, until it is seen or connected", arguments: [true, false])
    func unreached(isHeard: Bool) {
        let scene = scene()
        scene.send(led, "on")
        let lines = scene.wait(.seconds(10))
        #expect(scene.lastError?.code == "expired")
        #expect(lines.contains(availability + "offline"))
        scene.wait(.seconds(60))
        if isHeard {
            let lines = scene.handle(.sighting(.tag003R, TagSighting(rssi: -60)))
            #expect(lines.contains(availability + "online"))
        } else {
            scene.connect()
            #expect(scene.publications.contains { $0.line == availability + "online" })
        }
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1)))
        #expect(scene.publications.last { $0.line.hasPrefix(availability) }?.line == availability + "online")
    }

    @Test("is named in the error of a command that must not wait")
    func hint() {
        let scene = scene()
        scene.send(led, #"{"state":"ON","ttl_ms":0}"#)
        #expect(
            scene.lastError
                == ResultError(
                    code: "tag_offline", text: "Tag 003R is not connected",
                    hint: "the tag connects on demand: allow time with ttl_ms; "
                        + "not seen since the bridge started", retryable: true))
        #expect(scene.takeActions() == [])
    }
}
