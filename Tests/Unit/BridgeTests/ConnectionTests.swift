import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Connection of a tag")
struct ConnectionTests {
    private func line(
        _ state: String, step: String = "null", of: String = "null", since: String = "02.114", lastSeen: String? = nil,
        why: String? = nil
    ) -> String {
        let why = why.map { "\"\($0)\"" } ?? "null"
        let lastSeen = lastSeen.map { #""2026-11-20T10:15:\#($0)Z""# } ?? "null"
        return
            #"jacquard/tag/003R/connection {"adapter":null,"attempt":1,"error":null,"held":false,"last_seen":\#(lastSeen),"#
            + #""of":\#(of),"retry_at":null,"retry_in_ms":null,"#
            + #""rssi":null,"since":"2026-11-20T10:15:\#(since)Z","state":"\#(state)","status":"\#(Self.status(state))","#
            + #""step":\#(step),"why":\#(why)}"#
    }

    /// The status of a tag with a state, without failures.
    private static func status(_ state: String) -> String {
        switch state {
        case "connected", "disconnected": state
        case "preparing_to_connect": "out_of_range"
        default: "connecting"
        }
    }

    private func event(_ state: TagConnection.State) -> TagEvent {
        .connection(TagConnection(state: state, attempt: 1))
    }

    private static func info(connected: String) -> String {
        #"jacquard/bridge/attic/info {"bluez":null,"boot":"9f3c","connected":[\#(connected)],"contract":1,"instance":"attic","#
            + #""mqtt":null,"started":"2026-11-20T10:15:02.114Z","tags":["003R"],"version":"0.1.0"}"#
    }

    @Test("makes the tag available only while it is connected")
    func availability() {
        let scene = Scene()
        #expect(
            scene.report(event(.connecting(step: 0))) == [
                "jacquard/tag/003R/availability offline", line("connecting", step: "0", of: "14"),
            ])
        #expect(
            scene.report(event(.connected)) == [
                "jacquard/tag/003R/availability online", line("connected", lastSeen: "02.114"),
                Self.info(connected: #""003R""#), #"jacquard/bridge/attic/tags {"connected":1,"known":1}"#,
            ])
        #expect(
            scene.report(event(.disconnected)) == [
                "jacquard/tag/003R/availability offline",
                line("disconnected", lastSeen: "02.114", why: "not connected since 2026-11-20T10:15:02.114Z"),
                Self.info(connected: ""), #"jacquard/bridge/attic/tags {"connected":0,"known":1}"#,
            ])
    }

    @Test(
        "names every state",
        arguments: [
            (.preparingToConnect, "preparing_to_connect", "null"), (.connecting(step: 2), "connecting", "2"),
            (.initializing(step: 6), "initializing", "6"), (.configuring(step: 10), "configuring", "10"),
            (.connected, "connected", "null"), (.disconnected, "disconnected", "null"),
        ] as [(TagConnection.State, String, String)])
    func states(state: TagConnection.State, word: String, step: String) {
        let scene = Scene()
        scene.report(event(state == .preparingToConnect ? .connected : .preparingToConnect))
        scene.now = scene.now + .seconds(1)
        scene.report(event(state))
        let text = scene.publications.last { $0.topic.hasSuffix("connection") }?.text
        // The tag was never received.
        let status = state == .disconnected ? "out_of_range" : Self.status(word)
        #expect(text?.contains(#""state":"\#(word)","status":"\#(status)","step":\#(step),"why":"#) == true)
    }

    @Test("reports progress ten times a second, and always the last step")
    func coalescing() {
        let scene = Scene()
        scene.report(event(.connecting(step: 0)))
        for step in 1...4 {
            #expect(scene.report(event(.connecting(step: step))) == [])
        }
        #expect(scene.wait(.milliseconds(99)) == [])
        #expect(scene.wait(.milliseconds(1)) == [line("connecting", step: "4", of: "14")])
        #expect(scene.state.deadline == nil)
    }

    @Test("publishes a new state at once, and drops a held-back step of the old one")
    func stateChange() {
        let scene = Scene()
        scene.report(event(.connecting(step: 0)))
        #expect(scene.report(event(.connecting(step: 1))) == [])
        #expect(scene.report(event(.initializing(step: 5))).last == line("initializing", step: "5", of: "14"))
        #expect(scene.wait(.seconds(1)) == [])
    }

    @Test("publishes the error, a hint and the time of the next attempt")
    func failure() {
        let scene = Scene()
        let error = TagConnectionError(
            .peerRemovedPairingInfo, "No bond", stackName: "org.bluez.Error.AuthenticationFailed")
        let connection = TagConnection(
            state: .preparingToConnect, attempt: 3, error: error,
            retryAt: scene.now.instant + .milliseconds(1_500))
        let line: String =
            #"jacquard/tag/003R/connection {"adapter":null,"attempt":3,"error":{"#
            + #""bluez":"org.bluez.Error.AuthenticationFailed","code":"peer_removed_pairing_info","#
            + #""hint":"The tag has removed its bond with this host; pair it again","text":"No bond"},"held":false,"last_seen":null,"of":null,"#
            + #""retry_at":"2026-11-20T10:15:03.614Z","retry_in_ms":1500,"rssi":null,"since":"2026-11-20T10:15:02.114Z","#
            + #""state":"preparing_to_connect","status":"out_of_range","step":null,"#
            + #""why":"not received since the bridge started. touch or move the tag: it stops advertising after 60 seconds"}"#
        #expect(scene.report(.connection(connection)).first == line)
    }

    @Test("has a snake-case name for every error of the SDK", arguments: TagConnectionError.Code.allCases)
    func errorCodes(code: TagConnectionError.Code) {
        let snake = "\(code)".reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
        #expect(code.word == snake)
    }

    @Test("counts reconnects")
    func reconnects() {
        let scene = Scene.connected()
        scene.disconnect()
        scene.now = scene.now + .seconds(5)
        scene.connect()
        let stats = scene.publications.last { $0.topic.hasSuffix("/stats") }
        #expect(stats?.text.contains(#""reconnects":1,"time":"2026-11-20T10:15:07.114Z""#) == true)
    }
}
