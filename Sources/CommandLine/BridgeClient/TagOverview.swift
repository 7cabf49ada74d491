import Bridge
import BrokerAccess
import CommandLine
import EventLoop
import JSON
import Terminal
import Text

/// The tags that the bridge knows and receives, as far as this user may ask for them.
struct TagOverview: Hashable, Sendable {
    private let known: [JSONValue]
    private let seen: [JSONValue]

    /// Reads the data of the result of `request/tags`.
    init(_ data: JSONValue?) {
        known = data?["known"]?.elements ?? []
        seen = data?["seen"]?.elements ?? []
    }

    /// Requests it from the bridge; nil if the bridge does not answer this user.
    ///
    /// - Throws: `noConnection` and `interrupted`.
    @LoopActor
    static func read(_ session: BrokerSession, _ progress: Progress) async throws(ClientFailure) -> TagOverview? {
        var request = ClientRequest(verb: "tags", [:], session.topics)
        request.firstAnswer = .seconds(2)
        do throws(ClientFailure) {
            return TagOverview(try await session.ask(request, progress)["data"])
        } catch {
            // The caller can do without it.
            if error.code == "no_answer" || error.exitCode == .failed && error != .interrupted { return nil }
            throw error
        }
    }

    /// Whether the bridge is connected to the tag with a serial.
    func isConnected(_ serial: String) -> Bool {
        known.contains { $0["serial"]?.string == serial && $0["state"]?.string == "connected" }
    }

    /// The serials of tags that are received and not known, sorted.
    var strangers: [String] {
        Set(seen.filter { $0["known"]?.flag != true }.compactMap { $0["serial"]?.string }).sorted()
    }

    /// The received devices that are none of the bridge's tags, also if they have the serial of one.
    var others: [JSONValue] {
        let addresses = Set(known.compactMap { $0["address"]?.string })
        return seen.filter { tag in
            tag["known"]?.flag != true || !addresses.isEmpty && !addresses.contains(tag["address"]?.string ?? "")
        }
    }

    private var serials: [String] { (known + seen).compactMap { $0["serial"]?.string } }

    /// The warning for a serial that is not received while one that looks like it is known or received; nil if there is none.
    func warning(for serial: String) -> String? {
        guard !isConnected(serial), !seen.contains(where: { $0["serial"]?.string == serial }) else { return nil }
        let isKnown = known.contains { $0["serial"]?.string == serial }
        let hint = SerialLikeness.hint(for: serial, in: isKnown ? strangers : serials)
        return hint.isEmpty ? nil : "The tag \(serial) is \(isKnown ? "not" : "neither known nor") received\(hint)"
    }

    /// The serials of received tags in a sentence, for a tag that was not found.
    var received: String {
        guard !strangers.isEmpty else { return "no unknown tag is received" }
        let rest = strangers.count - Self.mostNamed
        return "received: \(strangers.prefix(Self.mostNamed).joined(separator: ", "))"
            + (rest > 0 ? " and \(rest) more" : "")
    }

    private static let mostNamed = 20
}
