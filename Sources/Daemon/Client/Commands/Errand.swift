import Bridge
import EventLoop
import JSON
import Text

/// A command that is one request to the bridge and one sentence about its result.
///
/// For machines the bridge's result is printed as it came (MQTT contract, section 4).
struct Errand: Sendable {
    /// The request.
    let request: BridgeRequest
    /// The sentence for people when the result is `ok`.
    let sentence: @Sendable (JSONValue) -> String

    /// Asks the bridge and prints the result.
    ///
    /// - Throws: the error of the result, or `noConnection`.
    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure) {
        let progress = Progress(context.printer)
        let result = try await context.visit { session throws(ClientFailure) in
            try await session.ask(request, progress)
        }
        let note = result["data"]?["note"]?.string ?? result["data"]?["text"]?.string
        context.printer.show(result, ([sentence(result)] + [note].compactMap(\.self)).map(DisplayText.escaped))
    }
}

extension Errand {
    /// `forget ID`.
    static func forget(_ id: String, _ topics: BridgeTopics) -> Errand {
        Errand(request: BridgeRequest(verb: "forget", ["id": .string(id)], topics)) { _ in "\(id) is forgotten" }
    }

    /// `led ID COLOR`.
    static func led(_ id: String, _ wish: LEDWish, _ topics: BridgeTopics) -> Errand {
        Errand(request: BridgeRequest("led", of: id, wish.payload, topics)) { answered(id, $0) }
    }

    /// `haptic ID NAME`.
    static func haptic(_ id: String, _ name: String, _ topics: BridgeTopics) -> Errand {
        Errand(request: BridgeRequest("haptic", of: id, ["pattern": .string(name)], topics)) { answered(id, $0) }
    }

    private static func answered(_ id: String, _ result: JSONValue) -> String {
        let time = result["took_ms"]?.integer.map { " after \($0) ms" } ?? ""
        return "\(id) has answered\(time)"
    }
}
