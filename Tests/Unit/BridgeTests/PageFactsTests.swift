import Foundation
import JSON
import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

/// The web page derives the state of a tag from the retained facts. The table of its rig, `Tests/Rigs/Web/findings.json`,
/// has facts and what the page shows for them.
@Suite("The facts in the table of the web page's rig")
struct PageFactsTests {
    /// `availability`, `state` and whether there is an error.
    private struct Facts: Hashable, CustomStringConvertible {
        let availability: String?
        let state: String?
        let hasError: Bool

        var description: String { "\(availability ?? "-") \(state ?? "-")\(hasError ? " with an error" : "")" }
    }

    private static let timeout = TagConnectionError(.connectionTimeout, "No link within 60 s")

    /// The latest facts of the tag after each event of a scene.
    private static func facts(_ policy: TagEntry.ConnectPolicy, _ events: [BridgeEvent]) throws -> Set<Facts> {
        let scene = Scene(tags: [TagEntry(id: .tag003R, serial: "003R", connect: policy)])
        var all: Set<Facts> = []
        scene.powerOn()
        for event in [.started] + events {
            scene.handle(event)
            let availability = scene.publications.last { $0.topic == "jacquard/tag/003R/availability" }
            let connection = scene.publications.last { $0.topic == "jacquard/tag/003R/connection" }
            let document = try #require(connection.flatMap { JSONValue(parsing: $0.payload) })
            all.insert(
                Facts(
                    availability: availability?.text, state: document["state"]?.string,
                    hasError: document["error"] != .null))
        }
        return all
    }

    private static func connection(_ state: TagConnection.State, _ error: TagConnectionError? = nil) -> BridgeEvent {
        .tag(.tag003R, .connection(TagConnection(state: state, attempt: 1, error: error)))
    }

    private static func published() throws -> Set<Facts> {
        let disconnect = MQTTMessage(
            topic: "jacquard/tag/003R/connection/set", payload: Array("disconnect".utf8))
        let flash = MQTTMessage(topic: "jacquard/tag/003R/led/set", payload: Array("flash".utf8))
        let lostBond = TagConnectionError(.peerRemovedPairingInfo, "bond lost")
        let powerOff = TagConnectionError(.bluetoothPowerOff, "Bluetooth is off")
        return try [
            facts(
                .always,
                [
                    connection(.connecting(step: 6)), connection(.connected),
                    connection(.preparingToConnect, timeout), connection(.disconnected, lostBond),
                ]),
            facts(.always, [.message(disconnect)]), facts(.never, []),
            facts(.always, [connection(.connected), .bluetooth(.poweredOff), connection(.disconnected, powerOff)]),
            facts(.onDemand, [.message(flash)]), facts(.onDemand, [connection(.preparingToConnect)]),
        ].reduce(into: []) { $0.formUnion($1) }
    }

    @Test("are those that a bridge publishes")
    func published() throws {
        let path = URL(filePath: "../../Rigs/Web/findings.json", relativeTo: URL(filePath: #filePath))
        let rows = try #require(JSONValue(parsing: Array(Data(contentsOf: path)))?.elements)
        let published = try Self.published()
        #expect(published.contains(Facts(availability: "online", state: "disconnected", hasError: false)))
        for row in rows {
            guard let tag = row["facts"]?["tag"], let connection = tag["connection"] else { continue }
            let facts = Facts(
                availability: tag["availability"]?.string, state: connection["state"]?.string,
                hasError: connection["error"] != .null)
            #expect(published.contains(facts), "\(row["case"]?.string ?? ""): \(facts)")
        }
    }
}
