import Bridge
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import JSON
import JacquardProtocol
import MQTT
import Terminal
import Text
import Time

/// A command of the contract to the tags that an operand selects.
struct TagOrder: Hashable, Sendable {
    /// The tags.
    let tags: TagOperand
    /// The command, such as `led`.
    let command: String
    /// `set` or `get`.
    var verb = "set"
    /// Its keys, without `id`.
    var payload: [String: JSONValue] = [:]
    /// How long to wait for a tag that is not connected; nil: as long as the bridge does by itself.
    var lifetime: Duration?

    /// The command to one of the tags.
    func request(_ tag: String, _ topics: BridgeTopics) -> ClientRequest {
        let limit = lifetime.map { ["ttl_ms": JSONValue.integer($0.milliseconds)] } ?? [:]
        return ClientRequest(command, verb: verb, of: tag, payload.merging(limit) { $1 }, topics)
    }
}

extension OptionDescription {
    /// `--wait`: `ttl_ms` of a command.
    static let wait = OptionDescription(
        name: "--wait", value: "SECONDS",
        details: [
            "How long to wait for a tag that is not connected, 0 to 86400 (default:",
            "\(ClientRequest.usualLifetime.decimalSeconds)).",
        ])
}

extension ParsedArguments {
    /// The value of `--wait`.
    func lifetime() throws(CommandLineError) -> Duration? {
        try value(of: .wait, .seconds(milliseconds: 0...86_400_000))
    }
}

extension ClientContext {
    /// Sends a command to all selected tags at once, and prints one line for each.
    ///
    /// One ID is one request as ``perform(_:sentence:)`` sends it. If there is no such tag, the word may be a group of a bridge.
    ///
    /// - Parameters:
    ///   - order: the command and the tags.
    ///   - sentence: the sentence for a successful result of a tag.
    /// - Throws: the error of the one result, `tags_failed` after printing, or `noConnection`.
    @LoopActor
    func perform(_ order: TagOrder, sentence: (String, JSONValue) -> String) async throws(ClientFailure) {
        guard let id = order.tags.single, order.tags.isTag || configuration.tagsOfGroups[id] == nil else {
            return try await performAll(order, sentence: sentence)
        }
        do throws(ClientFailure) {
            try await perform(order.request(id, topics)) { sentence(id, $0) }
        } catch {
            guard error.code == "unknown_tag", !order.tags.isTag, try await isGroup(id) else { throw error }
            try await performAll(order, sentence: sentence)
        }
    }

    /// Returns whether a bridge has a group with this name.
    @LoopActor
    private func isGroup(_ name: String) async throws(ClientFailure) -> Bool {
        try await withSession { session throws(ClientFailure) in
            let messages = try await session.snapshot(of: [topics.infoOfEveryBridge, topics.stateOfEveryBridge])
            return FleetDirectory(messages, topics).groups[name] != nil
        }
    }

    @LoopActor
    private func performAll(_ order: TagOrder, sentence: (String, JSONValue) -> String) async throws(ClientFailure) {
        let progress = Progress(printer)
        let report = try await withSession { session throws(ClientFailure) in
            defer { progress.end() }
            let groups = configuration.tagsOfGroups.mapValues { $0.map(\.text) }
            return TagListReport(try await session.askAll(order, groups: groups, progress))
        }
        printer.show(report.document, report.lines(sentence))
        if let failure = report.failure { throw failure }
    }
}

extension BrokerSession {
    /// Sends a command to several tags at once and waits for all results.
    ///
    /// - Parameters:
    ///   - order: the command and the tags.
    ///   - groups: the groups of the configuration; those of the bridges are added.
    ///   - progress: shows how many results are missing.
    /// - Returns: each tag with the outcome of its command, in the order of the command line.
    /// - Throws: `noConnection`, and `failed` if there is no tag or too many.
    fileprivate func askAll(
        _ order: TagOrder, groups: [String: [String]], _ progress: Progress
    ) async throws(ClientFailure) -> [TagListReport.Item] {
        progress.say("looking for the bridge \(topics.instance)")
        let filters = [topics.infoOfEveryBridge, topics.results(of: order.command), answers]
        let directory = FleetDirectory(try await expectBridge(filters), topics)
        let known = directory.groups.merging(groups) { fromBridge, own in own + fromBridge.filter { !own.contains($0) }
        }
        let tags = order.tags.tags(in: known, all: directory.tags(of: topics.instance))
        guard !tags.isEmpty else {
            throw directory.isReadable(topics.instance)
                ? Self.noTags(topics.instance) : Self.noInfo(topics)
        }
        guard tags.count <= TagOperand.maxTags else { throw Self.tooManyTags(tags.count) }
        var exchanges = TagExchanges(topics, answers: answers)
        for tag in tags {
            let request = order.request(tag, topics)
            let bridge = directory.bridge(of: tag)
            if let bridge, !directory.isOnline(bridge) {
                exchanges.failed(request, to: tag, of: bridge, .bridgeOffline(bridge))
            } else {
                let ticket = publish(request.topic, request.payload.text, correlation: request.id)
                exchanges.sent(request, to: tag, of: bridge, ticket: ticket, at: .now)
            }
        }
        while exchanges.pendingCount > 0 {
            progress.say("waiting for \(exchanges.pendingCount) of \(tags.count) tags")
            guard let signal = await next(until: exchanges.deadline) else {
                exchanges.deadlineReached(at: .now)
                continue
            }
            switch signal {
            case .message(let message): exchanges.received(message, at: .now)
            case .refused(let ticket, let error): exchanges.refused(ticket, error.code.name)
            case .lost(let error): throw .lost(error.text)
            case .interrupted: throw .interrupted
            case .connected, .taken: break
            }
        }
        return exchanges.exchanges.compactMap { exchange in exchange.outcome.map { (exchange.tag, $0) } }
    }
}

extension BrokerSession {
    /// `all` without any tag, or an empty group.
    private static func noTags(_ instance: String) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: "no_tags", text: "The bridge \"\(instance)\" has no tag",
            hint: "to pair one: jacquard2mqtt pair SERIAL")
    }

    /// `all`, but the tags of the bridge are unknown.
    private static func noInfo(_ topics: BridgeTopics) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: "no_tags", text: "The broker sends no \(topics.info) to this user",
            hint: "name the tags, or allow this user to read it in the broker's access control list")
    }

    /// More tags than one command line addresses.
    private static func tooManyTags(_ count: Int) -> ClientFailure {
        ClientFailure(
            exitCode: .failed, code: "too_many_tags",
            text: "These are \(count) tags; one command line addresses at most \(TagOperand.maxTags)")
    }
}
